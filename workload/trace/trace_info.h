// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What is in a trace file: the content of `weft trace info`.

#ifndef WEFT_WORKLOAD_TRACE_TRACE_INFO_H
#define WEFT_WORKLOAD_TRACE_TRACE_INFO_H

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workload/trace/longest_path.h"

namespace weft::trace {

/// One file, or the sum over several (then the paths are those of the file where they are longest).
struct TraceInfo {
  struct Amount {
    uint64_t count = 0;
    uint64_t bytes = 0;
  };

  std::string path;
  uint32_t rank = 0;
  uint64_t files = 1;
  uint64_t file_bytes = 0;
  uint64_t nodes = 0;
  std::array<uint64_t, 8> nodes_by_type{};
  std::array<Amount, kCollectiveOps> collectives{};  ///< by operation; bytes: comm_size
  uint64_t wrappers = 0;                             ///< COMM_COLL nodes without comm_type
  Amount sends, receives;
  Amount memory_loads, memory_stores;         ///< bytes: tensor_size
  uint64_t compute_cpu = 0, compute_gpu = 0;  ///< COMP nodes
  double flops = 0;                           ///< sum of num_ops of COMP nodes
  uint64_t with_duration = 0;                 ///< nodes that have a recorded duration
  Picoseconds compute_duration = 0;           ///< recorded, of COMP nodes
  Picoseconds other_duration = 0;             ///< recorded, of all others
  std::map<std::string, Amount> groups;       ///< by pg_name ("" for nodes without); bytes: comm_size
  uint64_t dependencies = 0;
  uint64_t dangling = 0;
  uint64_t forward_references = 0;
  uint64_t ignored_control = 0;
  LongestPath most_nodes;                          ///< every node costs 1 ps: time is the number of nodes
  LongestPath longest_time;                        ///< recorded durations
  std::string most_nodes_path, longest_time_path;  ///< files of the two
  std::vector<std::string> warnings;
};

/// Reads a file (checks as TraceIndex does, not strict). The rank is taken from a name <prefix>.<rank>.et,
/// else 0.
TraceInfo trace_info(const std::string& path);

/// The sum of several.
TraceInfo total(const std::vector<TraceInfo>& infos);

/// One block of text a file, and the total when there are several.
std::string to_text(const std::vector<TraceInfo>& infos);

/// {"files": [{...}], "total": {...}} with bytes, ps and counts as integers.
std::string to_json(const std::vector<TraceInfo>& infos);

}  // namespace weft::trace

#endif
