// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job as a list of works. A work has a node in the trace of every rank that takes part: a compute or memory
// access is on each of its ranks, a collective on its members, a message has a send and a receive.
// Dependencies go to earlier works only, so a job never waits for itself, in whatever order the ranks join
// their collectives.

#ifndef WEFT_TESTS_RELATIONS_JOB_H
#define WEFT_TESTS_RELATIONS_JOB_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::relations {

struct Work {
  enum class Kind { compute, load, store, collective, message, remote_load, invalid };

  Kind kind = Kind::compute;
  std::string name;
  std::vector<uint32_t> ranks;  ///< ascending; of a message {source, destination}
  uint64_t amount = 0;          ///< microseconds of a compute, else bytes
  std::string op;               ///< of a collective
  std::string group;            ///< of a collective: a key of Job::groups; empty: all ranks
  uint32_t root = 0;            ///< of a rooted collective: a rank
  std::vector<size_t> after;    ///< earlier works; on a rank without a node of them they do not matter
  bool extra = false;           ///< what the relation adds or takes away

  bool has(uint32_t rank) const;
};

struct Job {
  std::vector<Work> works;
  std::map<std::string, std::vector<uint32_t>> groups;
  uint64_t order = 0;      ///< of the nodes in each file: 0 as in `works`, else shuffled by this seed
  uint64_t ids = 0;        ///< 0: ids are positions in `works`; else these are spread by this factor
  uint64_t key_order = 0;  ///< of the groups in their file: 0 as in `groups`, else shuffled by this seed

  Job without_extra() const;
  /// Without work `index`; what waited for it waits for what it waited for.
  Job without(size_t index) const;
  /// The other ranks only, with new numbers: rank r becomes to[r]; kGone is none.
  Job renumbered(const std::vector<uint32_t>& to) const;

  /// One line a work, for people.
  std::string text() const;
  /// Writes `prefix`.<rank>.et for every rank, and `prefix`.groups.json.
  void write(const std::string& prefix, uint32_t ranks) const;
};

constexpr uint32_t kGone = ~0u;

bool rooted(const std::string& op);

}  // namespace weft::relations

#endif
