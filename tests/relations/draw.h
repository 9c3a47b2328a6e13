// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Random machines, collectives and jobs. They are small, so that a case takes milliseconds: what breaks a
// relation seldom needs many ranks.

#ifndef WEFT_TESTS_RELATIONS_DRAW_H
#define WEFT_TESTS_RELATIONS_DRAW_H

#include <cstdint>
#include <string>
#include <vector>

#include "tests/relations/case.h"

namespace weft::relations {

struct MachineLimits {
  std::vector<std::string> kinds = {"Ring", "FullyConnected", "Switch", "Mesh"};
  bool trees = false;  ///< Switch dimensions may be trees of switches, if there are other dimensions
  uint32_t dimensions = 3;
  uint32_t npus = 32;
  uint32_t smallest = 2;  ///< NPUs of a dimension
  /// Of each dimension one of these; with `one_fidelity` all the same.
  std::vector<std::string> fidelities = {"analytical", "message"};
  bool one_fidelity = false;
  bool odd_rates = true;  ///< also bandwidths that are no round numbers
};

/// Dimensions with bandwidth, latency, fidelity, switching and links_per_npu; no other keys.
Machine draw_machine(Random& random, const MachineLimits& limits);

struct CollectiveLimits {
  uint32_t chunks = 9;        ///< at most; 1: always one
  bool fixed_chunks = false;  ///< the key is always there
  bool side_by_side = true;   ///< several active chunks, queues and directions
  bool orders = true;         ///< orders, schedulers and the dispatcher
  bool algorithms = true;     ///< others than the defaults
  bool in_switch = true;
  bool reduction = true;
  bool endpoint = true;
};

/// The sections `collectives` and `nmu`. Every key stays away in many cases, so that its default is drawn
/// too.
void draw_collective_keys(Random& random, Machine& machine, const CollectiveLimits& limits);

/// A collective whose time can be compared when links change a little, and its keys. A list schedule may take
/// longer when one of its parts gets shorter: where two messages or chunks wait for one link and come in the
/// other order. That cannot happen where all members do alike, so several chunks are drawn only with
/// algorithms of which that is true (ring, direct, halving_doubling of a power of two; sizes that divide; no
/// root; the default order). Else there is one chunk.
void draw_orderly_collective(Random& random, Case& c);
/// Every member of a collective sends and receives the same sizes at the same times. No link carries messages
/// of two members.
bool lockstep(const Machine& machine);

/// A size: small ones, round ones and those that divide by nothing.
uint64_t draw_bytes(Random& random, uint64_t largest = 4 << 20);

/// Any operation but `barrier`.
std::string draw_op(Random& random);
Collective draw_collective(Random& random, const Machine& machine, uint64_t largest = 4 << 20);

/// The same collective as a job of one work, `c`, on all ranks.
Job job_of(const Machine& machine, const Collective& collective);

/// An algorithm that the dimension can use for the operation, or "default".
std::string draw_algorithm(Random& random, const Dimension& dimension, const std::string& op, bool in_switch);

struct JobLimits {
  uint32_t works = 12;
  bool computes = true;
  bool memory = true;
  bool messages = true;
  bool any_group = true;              ///< groups that are no lines of dimensions
  bool all_ranks = true;              ///< collectives of all ranks, without a group
  uint32_t waits = 50;                ///< percent of works that wait for others on the same rank
  uint64_t bytes = 1 << 20;           ///< at most
  uint64_t micros = 200;              ///< of a compute, at most
  std::vector<uint32_t> ranks = {};   ///< only these take part; empty: all
  std::vector<std::string> ops = {};  ///< empty: all
};

Job draw_job(Random& random, const Machine& machine, const JobLimits& limits);
/// A job on the NPUs at coordinate 0 of some dimension, and another one, `extra`, on those at another
/// coordinate: their messages have no link in common. The machine has two dimensions or more.
Job draw_job_in_slices(Random& random, const Machine& machine, const JobLimits& limits);

/// The ranks that differ from `rank` in the dimensions of `mask` only, itself included; ascending.
std::vector<uint32_t> line(const Machine& machine, uint32_t rank, uint32_t mask);
/// The name of that group in a job, to which it is added.
std::string line_group(Job& job, const Machine& machine, uint32_t rank, uint32_t mask);

}  // namespace weft::relations

#endif
