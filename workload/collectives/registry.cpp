// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <deque>
#include <stdexcept>

#include "configs/extension.h"
#include "workload/collectives/algorithm.h"
#include "workload/collectives/proven_algorithm.h"

namespace weft::collectives {

namespace {

std::vector<const Algorithm*>& table() {
  static std::vector<const Algorithm*> rows{
      ring_algorithm(),
      direct_algorithm(),
      halving_doubling_algorithm(),
      double_binary_tree_algorithm(),
  };
  return rows;
}

}  // namespace

const std::vector<const Algorithm*>& all_algorithms() {
  return table();
}

void add_algorithm(const Algorithm& algorithm, const std::string& description, const std::string& source) {
  // Data-carrying mode and folding trust algorithms: this one is proven before it is used, and never folded.
  static std::deque<ProvenAlgorithm> added;
  add_algorithm_name(algorithm.name(), description, source);
  added.emplace_back(algorithm);
  table().push_back(&added.back());
}

const Algorithm* find_algorithm(const std::string& name) {
  for (const Algorithm* a : all_algorithms()) {
    if (name == a->name()) return a;
  }
  if (name == in_switch_algorithm()->name()) return in_switch_algorithm();
  return nullptr;
}

const Algorithm* find_flat_algorithm(const std::string& name) {
  const std::string prefix = "one_";
  return name.compare(0, prefix.size(), prefix) == 0 ? find_algorithm(name.substr(prefix.size())) : nullptr;
}

const Algorithm* default_algorithm(const Shape& shape, CollectiveOp op) {
  const Algorithm* const algorithm = find_algorithm(shape.default_algorithm(op));
  if (algorithm == nullptr)
    throw std::logic_error(fmt::format("the default algorithm of {}, {}, is not registered", shape.name(),
                                       shape.default_algorithm(op)));
  return algorithm;
}

}  // namespace weft::collectives
