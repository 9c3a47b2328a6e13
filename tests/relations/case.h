// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a relation is tried on: a machine, and a collective or a job on it.

#ifndef WEFT_TESTS_RELATIONS_CASE_H
#define WEFT_TESTS_RELATIONS_CASE_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/relations/job.h"
#include "tests/relations/machine.h"
#include "tests/relations/random.h"

namespace weft::relations {

/// `weft collective` on all NPUs.
struct Collective {
  std::string op = "all_reduce";
  uint64_t bytes = 1024;
  uint32_t root = 0;
};

struct Case {
  Machine machine;
  std::optional<Collective> collective;
  std::optional<Job> job;
  /// What else the relation has drawn. A failing case is tried with smaller numbers and with 0.
  std::map<std::string, uint64_t> choices;

  uint64_t choice(const std::string& name) const {
    const auto found = choices.find(name);
    return found == choices.end() ? 0 : found->second;
  }
};

/// Smaller or plainer cases, the most promising first. Each is `simpler(case)`'s by one step.
std::vector<Case> simpler(const Case& c);

}  // namespace weft::relations

#endif
