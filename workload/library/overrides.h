// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What replaces the tuner's choice for some calls: lines in the form of NCCL's example tuner plugin
// (ext-tuner/example in NVIDIA/nccl),
//
//     collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks[,pipelined
//     operations,registered]
//
// with -1 for "any" (channels: the library's own). `#` begins a comment. Sizes are those of nccl-tests, both
// ends belong to the range.

#ifndef WEFT_WORKLOAD_LIBRARY_OVERRIDES_H
#define WEFT_WORKLOAD_LIBRARY_OVERRIDES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/library/library_plan.h"
#include "workload/library/planner.h"

namespace weft::library {

class Overrides {
 public:
  Overrides() = default;
  /// Throws UserError(usage): a file that cannot be read, a malformed line, a line that matches calls of
  /// another.
  static Overrides read(const std::string& path);
  /// `file`: for messages.
  static Overrides parse(const std::string& text, const std::string& file);

  /// What holds for the call; nothing is forced when no line matches.
  Forced find(LibraryOp op, uint64_t bytes, uint32_t nodes, uint32_t ranks) const;
  bool empty() const { return lines_.empty(); }

 private:
  struct Line {
    LibraryOp op = LibraryOp::all_reduce;
    uint64_t least = 0;
    uint64_t most = ~uint64_t{0};
    int64_t nodes = -1;
    int64_t ranks = -1;
    Forced forced;
  };
  static Line parse_line(const std::string& text, const std::string& where);
  static bool overlap(const Line& a, const Line& b);

  std::vector<Line> lines_;
};

}  // namespace weft::library

#endif
