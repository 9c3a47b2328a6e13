// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace weft {

const InputKind kConfigurationInput{"configuration", ExitCode::usage,
                                    "check the path; a configuration is a YAML file", uint64_t{16} << 20};
const InputKind kRoutesInput{"routes", ExitCode::usage, "check the path; routes are a YAML file",
                             uint64_t{16} << 20};
const InputKind kGroupsInput{"groups", ExitCode::trace,
                             "check `workload.groups` or --groups; groups are a JSON file",
                             uint64_t{256} << 20};
const InputKind kPatternInput{"pattern", ExitCode::usage,
                              "check the path; a pattern is a text file with one destination a line",
                              uint64_t{256} << 20};
const InputKind kTraceInput{"trace", ExitCode::trace, "check the path; a trace is a file <prefix>.<rank>.et"};

namespace {

std::function<void(const std::string&)>& observer() {
  static std::function<void(const std::string&)> instance;
  return instance;
}

/// In words: what is there in place of a regular file.
const char* type_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISCHR(mode)  ? "a device"
         : S_ISBLK(mode)  ? "a block device"
         : S_ISSOCK(mode) ? "a socket"
                          : "something else";
}

/// A long path is not repeated in full.
std::string shown(const std::string& path) {
  constexpr size_t kMost = 300;
  return path.size() <= kMost ? path : path.substr(0, kMost) + "...";
}

[[noreturn]] void refuse(const std::string& path, const InputKind& kind, int error) {
  const bool usage = error == ELOOP || error == ENAMETOOLONG;
  const std::string why =
      error == ENOENT  ? fmt::format("no such {} file; {}", kind.noun, kind.remedy)
      : error == ELOOP ? fmt::format(
                             "the {} file cannot be opened: a loop of symbolic links; name "
                             "the file itself",
                             kind.noun)
      : error == ENAMETOOLONG
          ? fmt::format(
                "the {} file cannot be opened: a name is too long (at most 255 "
                "characters, 4095 with the folders); give a shorter one",
                kind.noun)
          : fmt::format("the {} file cannot be opened: {}; {}{}", kind.noun, std::strerror(error),
                        kind.remedy, error == EACCES ? " that you may read" : "");
  throw UserError(usage ? ExitCode::usage : kind.code, fmt::format("{}: {}", shown(path), why));
}

[[noreturn]] void refuse_type(const std::string& path, const InputKind& kind, mode_t mode) {
  throw UserError(kind.code,
                  fmt::format("{}: is {}, not a regular file; {}", shown(path), type_of(mode), kind.remedy));
}

bool full(int error) {
  return error == EMFILE || error == ENFILE;
}

/// An open regular file, or -1 with errno.
int open_regular(const std::string& path, const InputKind& kind, struct stat& status) {
  // open() has side effects on some devices: look before.
  if (::stat(path.c_str(), &status) != 0) return -1;
  if (!S_ISREG(status.st_mode)) refuse_type(path, kind, status.st_mode);
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return -1;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    if (observer()) observer()(path);
    return fd;
  }
  ::close(fd);  // it became something else in between
  refuse_type(path, kind, status.st_mode);
}

/// A path with a zero byte would be cut off there.
void refuse_zero_byte(const std::string& path, const InputKind& kind) {
  if (path.find('\0') == std::string::npos) return;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: the name of the {} file goes on after a zero byte; {}",
                              shown(path.substr(0, path.find('\0'))), kind.noun, kind.remedy));
}

}  // namespace

InputFile::InputFile(const std::string& path, const InputKind& kind, int fd, uint64_t bytes)
    : path_(path), kind_(&kind), fd_(fd), bytes_(bytes) {}

InputFile::InputFile(const std::string& path, const InputKind& kind)
    : path_(path), kind_(&kind), fd_(-1), bytes_(0) {
  refuse_zero_byte(path, kind);
  struct stat status {};
  fd_ = open_regular(path, kind, status);
  if (fd_ < 0) refuse(path, kind, errno);
  bytes_ = static_cast<uint64_t>(status.st_size);
}

std::optional<InputFile> InputFile::open_unless_full(const std::string& path, const InputKind& kind) {
  refuse_zero_byte(path, kind);
  struct stat status {};
  const int fd = open_regular(path, kind, status);
  if (fd < 0 && full(errno)) return std::nullopt;
  if (fd < 0) refuse(path, kind, errno);
  return InputFile(path, kind, fd, static_cast<uint64_t>(status.st_size));
}

InputFile InputFile::of_bytes(const std::string& path, std::shared_ptr<const std::string> bytes) {
  InputFile file(path, kTraceInput, -1, bytes->size());
  file.memory_ = std::move(bytes);
  return file;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      kind_(other.kind_),
      fd_(std::exchange(other.fd_, -1)),
      bytes_(other.bytes_),
      memory_(std::move(other.memory_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(kind_, other.kind_);
  std::swap(fd_, other.fd_);
  std::swap(bytes_, other.bytes_);
  std::swap(memory_, other.memory_);
  return *this;
}

void InputFile::advise_sequential() const {
  if (!memory_) ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

size_t InputFile::read(uint64_t offset, void* to, size_t size) const {
  if (memory_) {
    if (offset >= memory_->size()) return 0;
    const size_t n = std::min<uint64_t>(size, memory_->size() - offset);
    std::memcpy(to, memory_->data() + offset, n);
    return n;
  }
  auto* out = static_cast<char*>(to);
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(fd_, out + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw UserError(kind_->code,
                      fmt::format("{}: byte {}: reading the {} file failed: {}; copy it to "
                                  "another disk",
                                  shown(path_), offset + done, kind_->noun, std::strerror(errno)));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

std::string read_input(const std::string& path, const InputKind& kind) {
  const InputFile file(path, kind);
  const auto too_large = [&](const std::string& has) {
    throw UserError(kind.code, fmt::format("{}: has {}, but a {} file may have at most {} MiB; {}",
                                           shown(path), has, kind.noun, kind.most_bytes >> 20, kind.remedy));
  };
  if (file.bytes() > kind.most_bytes) too_large(fmt::format("{} bytes", file.bytes()));
  // The length is only a hint: files of /proc say 0, and others may grow.
  std::string text(static_cast<size_t>(std::max<uint64_t>(file.bytes(), 4095)) + 1, '\0');
  size_t filled = 0;
  for (;;) {
    const size_t n = file.read(filled, text.data() + filled, text.size() - filled);
    filled += n;
    if (filled > kind.most_bytes) too_large("more");
    if (filled < text.size()) break;
    text.resize(text.size() * 2);
  }
  text.resize(filled);
  return text;
}

bool input_exists(const std::string& path) {
  struct stat status {};
  if (path.find('\0') != std::string::npos) return false;
  return ::stat(path.c_str(), &status) == 0 || errno == ELOOP || errno == EACCES;
}

void observe_inputs(std::function<void(const std::string& path)> f) {
  observer() = std::move(f);
}

}  // namespace weft
