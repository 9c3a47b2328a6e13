// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/algorithms.h"

#include <fmt/format.h>

#include "configs/extension.h"
#include "configs/types.h"

namespace weft {
namespace {

constexpr uint32_t bit(CollectiveOp op) {
  return 1u << static_cast<uint32_t>(op);
}

constexpr uint32_t kAllToAll = bit(CollectiveOp::all_to_all);
constexpr uint32_t kNotInTrees = kAllToAll | bit(CollectiveOp::all_gather) |
                                 bit(CollectiveOp::reduce_scatter) | bit(CollectiveOp::gather) |
                                 bit(CollectiveOp::scatter);

std::vector<AlgorithmInfo>& table() {
  static std::vector<AlgorithmInfo> rows = {
      {"ring", true, false, nullptr, "neighbour to neighbour, n-1 steps a pass"},
      {"direct", true, false, nullptr, "one message to every peer at once"},
      {"halving_doubling", true, false, nullptr,
       "partners at distance 1, 2, 4 ..; log2 n steps a pass; if n is no power of two, the members beyond "
       "one "
       "join a partner before and after",
       kAllToAll, "direct or ring"},
      {"double_binary_tree", true, false, nullptr,
       "all-reduce, broadcast, reduce and barrier: chunks take turns on two complementary trees; in an "
       "all-reduce over several dimensions the trees run between the reduce-scatters and the all-gathers of "
       "the "
       "others",
       kNotInTrees, "ring or direct"},
      {"one_ring", true, true, nullptr, "one flat ring over all NPUs"},
      {"one_direct", true, true, nullptr, "one flat direct exchange over all NPUs"},
      {"one_halving_doubling", true, true, nullptr, "one flat halving-doubling over all NPUs", kAllToAll,
       "one_direct or one_ring"},
      {"one_double_binary_tree", true, true, nullptr, "one flat double binary tree over all NPUs",
       kNotInTrees, "one_ring or one_direct"},
      {"custom", true, true, "PREFIX",
       "programs of sends and receives read from `PREFIX.<member>.et`, see docs/custom_collectives.md"},
      {"in_switch", true, false, nullptr,
       "Switch dimensions only, all operations but all-to-all: NPUs send their contributions to the switch, "
       "whose collective unit reduces, gathers, scatters and multicasts",
       kAllToAll, "direct: a switch cannot reduce or multicast its bytes"},
  };
  return rows;
}

}  // namespace

const std::vector<AlgorithmInfo>& algorithm_table() {
  return table();
}

void add_algorithm_name(const std::string& name, const std::string& description, const std::string& source) {
  for (const std::string& n : {name, "one_" + name})
    for (const AlgorithmInfo& info : table())
      if (n == info.name)
        throw UserError(ExitCode::usage, fmt::format("there is a collective algorithm '{}' already", n));
  table().push_back({name, true, false, nullptr, description, 0, nullptr, source});
  table().push_back({"one_" + name, true, true, nullptr, fmt::format("one flat {} over all NPUs", name), 0,
                     nullptr, source});
}

const AlgorithmInfo* find_algorithm(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view word = name.substr(0, colon);
  for (const AlgorithmInfo& info : algorithm_table()) {
    if (word != info.name) continue;
    const bool has_argument = colon != std::string_view::npos && colon + 1 < name.size();
    return has_argument == (info.argument != nullptr) && (has_argument || word == name) ? &info : nullptr;
  }
  return nullptr;
}

std::string lacking(const AlgorithmInfo& algorithm, CollectiveOp op) {
  if ((algorithm.lacks & bit(op)) == 0) return {};
  return fmt::format("{} has no {}; use {}", algorithm.name, to_string(op), algorithm.instead);
}

std::string_view algorithm_argument(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1);
}

}  // namespace weft
