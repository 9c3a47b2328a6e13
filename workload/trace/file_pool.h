// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Many files read at random, few of them open: a job of thousands of ranks must not meet the limit on open
// files.

#ifndef WEFT_WORKLOAD_TRACE_FILE_POOL_H
#define WEFT_WORKLOAD_TRACE_FILE_POOL_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "configs/input_file.h"

namespace weft::trace {

/// Opens files on demand and closes the least recently used one when `max_open` are open. Thread-safe.
class FilePool {
 public:
  using FileId = uint32_t;

  /// A quarter of the process's limit on open files, between 4 and 256.
  static size_t default_max_open();

  explicit FilePool(size_t max_open = default_max_open());
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  /// Registers a file; nothing is opened yet.
  FileId add(const std::string& path);

  /// The same for bytes of memory; they take no descriptor.
  FileId add(const std::string& path, std::shared_ptr<const std::string> bytes);

  /// Reads exactly `size` bytes at `offset`. Throws UserError(trace) when the file cannot be opened or is
  /// shorter.
  void read(FileId file, uint64_t offset, void* to, size_t size);

  size_t open_count() const;

 private:
  struct Entry {
    std::string path;
    std::optional<InputFile> file;  ///< while it is open
    uint64_t used = 0;
  };

  void open(Entry& entry, FileId id);
  bool close_oldest();

  mutable std::mutex mutex_;
  size_t max_open_;
  uint64_t clock_ = 0;
  std::vector<Entry> files_;
  std::vector<FileId> open_;
};

}  // namespace weft::trace

#endif
