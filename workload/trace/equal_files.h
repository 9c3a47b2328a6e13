// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Finds files with the same bytes among the traces of a job, so that each content is indexed and digested
// once.

#ifndef WEFT_WORKLOAD_TRACE_EQUAL_FILES_H
#define WEFT_WORKLOAD_TRACE_EQUAL_FILES_H

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::trace {

class EqualFiles {
 public:
  /// The number of the first file that was added with the same bytes; nothing: there is none. Files have the
  /// numbers 0, 1, .. in the order in which they are added. A file is read only if another one has its size.
  /// Throws UserError(trace) for one that cannot be read.
  std::optional<uint32_t> add(const std::string& path);

 private:
  /// A content: its first file.
  struct Content {
    uint32_t number;
    std::string path;
    bool hashed = false;  ///< by_hash_ has it
  };

  std::unordered_map<uint64_t, Content> first_of_size_;
  std::unordered_map<uint64_t, std::vector<Content>> by_hash_;
  uint32_t count_ = 0;
};

}  // namespace weft::trace

#endif
