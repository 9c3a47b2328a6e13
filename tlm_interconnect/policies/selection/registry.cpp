// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The selection policies there are. To add one: a file beside this one and a row here.

#include <fmt/format.h>

#include "tlm_interconnect/policies/selection/first_route.h"
#include "tlm_interconnect/policies/selection/flow_hash.h"
#include "tlm_interconnect/policies/selection/most_credits.h"
#include "tlm_interconnect/policies/selection/random_route.h"
#include "tlm_interconnect/policies/selection/selection_policy.h"
#include "tlm_interconnect/policies/selection/spray.h"

namespace weft::packet {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<SelectionPolicy> (*make)();
};

template <typename T>
std::unique_ptr<SelectionPolicy> make() {
  return std::make_unique<T>();
}

const Row kRows[] = {
    {"first", make<FirstRoute>}, {"random", make<RandomRoute>},       {"hash", make<FlowHash>},
    {"spray", make<Spray>},      {"most_credits", make<MostCredits>},
};

}  // namespace

std::unique_ptr<SelectionPolicy> make_selection_policy(const std::string& name) {
  std::string known;
  for (const Row& row : kRows) {
    if (name == row.name) return row.make();
    known += known.empty() ? row.name : std::string(", ") + row.name;
  }
  throw UserError(ExitCode::usage, fmt::format("unknown route selection '{}': use one of {}", name, known));
}

std::vector<std::string> selection_policy_names() {
  std::vector<std::string> result;
  for (const Row& row : kRows) result.emplace_back(row.name);
  return result;
}

}  // namespace weft::packet
