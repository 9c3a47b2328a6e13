// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/file_pool.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::trace {

size_t FilePool::default_max_open() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 256;
  return std::clamp<size_t>(static_cast<size_t>(limit.rlim_cur / 4), 4, 256);
}

FilePool::FilePool(size_t max_open) : max_open_(std::max<size_t>(max_open, 1)) {}

FilePool::~FilePool() {
  for (FileId id : open_) ::close(files_[id].fd);
}

FilePool::FileId FilePool::add(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_.push_back({path, -1, 0});
  return static_cast<FileId>(files_.size() - 1);
}

bool FilePool::close_oldest() {
  if (open_.empty()) return false;
  const auto oldest = std::min_element(open_.begin(), open_.end(),
                                       [&](FileId a, FileId b) { return files_[a].used < files_[b].used; });
  ::close(files_[*oldest].fd);
  files_[*oldest].fd = -1;
  open_.erase(oldest);
  return true;
}

void FilePool::open(Entry& entry, FileId id) {
  if (open_.size() >= max_open_) close_oldest();
  for (;;) {
    entry.fd = ::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (entry.fd >= 0) break;
    if (errno == EINTR) continue;
    // Others in the process hold descriptors too: give one of ours back and try again.
    if ((errno == EMFILE || errno == ENFILE) && close_oldest()) continue;
    throw UserError(ExitCode::trace,
                    fmt::format("{}: cannot be opened: {}. Check the path and its permissions.", entry.path,
                                std::strerror(errno)));
  }
  open_.push_back(id);
}

void FilePool::read(FileId file, uint64_t offset, void* to, size_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = files_.at(file);
  if (entry.fd < 0) open(entry, file);
  entry.used = ++clock_;
  auto* out = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(entry.fd, out, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw UserError(ExitCode::trace, fmt::format("{}: reading at byte {} failed: {}.", entry.path, offset,
                                                   std::strerror(errno)));
    }
    if (n == 0) {
      throw UserError(
          ExitCode::trace,
          fmt::format("{}: ends at byte {}, but was longer when it was indexed. Do not change trace "
                      "files during a run.",
                      entry.path, offset));
    }
    out += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
}

size_t FilePool::open_count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_.size();
}

}  // namespace weft::trace
