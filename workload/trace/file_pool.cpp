// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/file_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::trace {

size_t FilePool::default_max_open() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 256;
  return std::clamp<size_t>(static_cast<size_t>(limit.rlim_cur / 4), 4, 256);
}

FilePool::FilePool(size_t max_open) : max_open_(std::max<size_t>(max_open, 1)) {}

FilePool::FileId FilePool::add(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_.push_back({path, std::nullopt, 0});
  return static_cast<FileId>(files_.size() - 1);
}

FilePool::FileId FilePool::add(const std::string& path, std::shared_ptr<const std::string> bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_.push_back({path, InputFile::of_bytes(path, std::move(bytes)), 0});
  return static_cast<FileId>(files_.size() - 1);
}

bool FilePool::close_oldest() {
  if (open_.empty()) return false;
  const auto oldest = std::min_element(open_.begin(), open_.end(),
                                       [&](FileId a, FileId b) { return files_[a].used < files_[b].used; });
  files_[*oldest].file.reset();
  open_.erase(oldest);
  return true;
}

void FilePool::open(Entry& entry, FileId id) {
  if (open_.size() >= max_open_) close_oldest();
  // Others in the process hold descriptors too: give one of ours back and try again.
  while (!(entry.file = InputFile::open_unless_full(entry.path, kTraceInput)) && close_oldest()) {
  }
  if (!entry.file) entry.file.emplace(entry.path, kTraceInput);  // says why not
  open_.push_back(id);
}

void FilePool::read(FileId file, uint64_t offset, void* to, size_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = files_.at(file);
  if (!entry.file) open(entry, file);
  entry.used = ++clock_;
  const size_t got = entry.file->read(offset, to, size);
  if (got == size) return;
  throw UserError(ExitCode::trace,
                  fmt::format("{}: ends at byte {}, but was longer when it was indexed. Do not change trace "
                              "files during a run.",
                              entry.path, offset + got));
}

size_t FilePool::open_count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_.size();
}

}  // namespace weft::trace
