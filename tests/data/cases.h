// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Machines, groups and collectives for the tests of data-carrying mode: every combination in small, and
// random ones.

#ifndef WEFT_TESTS_DATA_CASES_H
#define WEFT_TESTS_DATA_CASES_H

#include <random>
#include <string>
#include <vector>

#include "configs/tree.h"
#include "workload/collectives/plan.h"

namespace weft::test {

struct DataCase {
  Config config;
  collectives::Group group;
  collectives::CollectiveRequest request;  ///< without the group: set it where the case has come to rest
  std::string text() const;
};

enum class GroupShape { all, grid, line, irregular };
const char* to_string(GroupShape shape);

/// The algorithms by name that run `op` on n members, by the registry.
std::vector<std::string> algorithms_for(CollectiveOp op, uint32_t n);

/// A machine with these dimensions; latencies and bandwidths are all different.
Config machine(const std::vector<DimensionKind>& kinds, const std::vector<uint32_t>& sizes,
               Fidelity fidelity);

/// A tree of switches with n leaves, of several levels where n allows.
TreeNotation tree_of(uint32_t n);
/// Any of at most `most` leaves.
TreeNotation random_tree(uint32_t most, std::mt19937_64& random);
/// Makes the dimension one of such trees, with links of their own at some levels.
void make_random_tree(DimensionConfig& dimension, const TreeNotation& tree, std::mt19937_64& random);

/// A group of the shape, in shuffled order for every second random number; empty: the machine has none of it.
/// Random values for the keys of `packet`.
void set_packets(Config& config, std::mt19937_64& random);
std::vector<uint32_t> group_of(const Config& config, GroupShape shape, std::mt19937_64& random);

/// Sets operation, bytes, root and, for dimensions `mask`, involved dimensions.
void set_request(DataCase& c, CollectiveOp op, uint64_t elements, std::mt19937_64& random);

/// Gives every dimension an algorithm that can run the operation on the members which occur in it. `units`:
/// also in_switch, which takes a machine with switches.
void choose_algorithms(DataCase& c, uint64_t pick, bool units);

DataCase random_case(std::mt19937_64& random, bool units);

}  // namespace weft::test

#endif
