// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "configs/types.h"

namespace weft::sweep {
namespace {

using nlohmann::json;

constexpr size_t kChecksum = 16;

std::string line_of(const json& document) {
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  return fingerprint(text) + " " + text + "\n";
}

std::optional<Identity> identity_of(const json& document) {
  const auto it = document.find("sweep");
  if (it == document.end() || !it->is_array()) return std::nullopt;
  Identity identity;
  for (const json& part : *it) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_string() || !part[1].is_string())
      return std::nullopt;
    identity.emplace_back(part[0].get<std::string>(), part[1].get<std::string>());
  }
  return identity;
}

std::optional<PointResult> result_of(const json& document) {
  const auto point = document.find("point");
  const auto code = document.find("exit");
  const auto error = document.find("error");
  const auto values = document.find("values");
  const auto end = document.end();
  if (point == end || code == end || error == end || values == end || !point->is_number_unsigned() ||
      !code->is_number_integer() || !error->is_string() || !values->is_array())
    return std::nullopt;
  PointResult result;
  result.point = point->get<size_t>();
  result.exit_code = code->get<int>();
  result.error = error->get<std::string>();
  for (const json& value : *values) {
    if (!value.is_array() || value.size() != 2 || !value[0].is_string() || !value[1].is_string())
      return std::nullopt;
    result.values.emplace_back(value[0].get<std::string>(), value[1].get<std::string>());
  }
  return result;
}

int open_or_throw(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: cannot be opened: {}; check its permissions or choose another "
                                "--out",
                                path, std::strerror(errno)));
  return fd;
}

/// What the holder of a lock wrote into its file.
std::string written_holder(int fd) {
  std::array<char, 300> text{};
  const ssize_t n = ::pread(fd, text.data(), text.size() - 1, 0);
  std::string line(text.data(), n > 0 ? static_cast<size_t>(n) : 0);
  line = line.substr(0, line.find('\n'));
  return line.empty() ? "another process" : line;
}

}  // namespace

JournalContents parse_journal(std::string_view text) {
  JournalContents contents;
  size_t at = 0;
  for (size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string_view line = text.substr(at, end - at);
    contents.any = true;
    contents.whole_bytes = end + 1;
    if (line.size() < kChecksum + 2 || line[kChecksum] != ' ') continue;
    const std::string_view body = line.substr(kChecksum + 1);
    if (fingerprint(body) != line.substr(0, kChecksum)) continue;
    const json document = json::parse(body.begin(), body.end(), nullptr, false);
    if (!document.is_object()) continue;
    if (at == 0) contents.identity = identity_of(document);
    if (std::optional<PointResult> result = result_of(document))
      contents.results.push_back(std::move(*result));
  }
  return contents;
}

JournalContents read_journal(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in.good()) return {};
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_journal(text);
}

std::string identity_line(const Identity& identity) {
  json parts = json::array();
  for (const auto& [name, text] : identity) parts.push_back({name, text});
  return line_of({{"sweep", parts}});
}

std::string result_line(const PointResult& result) {
  json values = json::array();
  for (const auto& [name, text] : result.values) values.push_back({name, text});
  return line_of(
      {{"point", result.point}, {"exit", result.exit_code}, {"error", result.error}, {"values", values}});
}

JournalWriter::JournalWriter(std::string path, const JournalContents& contents, const Identity& identity)
    : path_(std::move(path)), fd_(open_or_throw(path_, O_WRONLY | O_CREAT | O_APPEND)) {
  if (::ftruncate(fd_, static_cast<off_t>(contents.whole_bytes)) != 0) fail(errno);
  if (contents.whole_bytes == 0) write(identity_line(identity));
}

JournalWriter::~JournalWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void JournalWriter::fail(int error) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw UserError(
      ExitCode::internal,
      fmt::format("{}: cannot be written: {}; {}. What it holds is kept", path_, std::strerror(error),
                  full ? "free some space and run the same command again" : "check the disk"));
}

void JournalWriter::write(const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    done += static_cast<size_t>(n);
  }
}

FileLock::FileLock(const std::string& path) : fd_(open_or_throw(path, O_RDWR | O_CREAT)) {
  // Somebody may only look who holds it (holder()), or be on its way out.
  int error = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    error = ::flock(fd_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 || (error != EWOULDBLOCK && error != EINTR)) break;
    ::usleep(20000);
  }
  if (error != 0) {
    const std::string who = written_holder(fd_);
    ::close(fd_);
    if (error != EWOULDBLOCK)
      throw UserError(ExitCode::usage, fmt::format("{}: cannot be locked: {}; choose another --out", path,
                                                   std::strerror(error)));
    throw UserError(ExitCode::usage,
                    fmt::format("{}: this sweep is running already: {}; wait for it, end it, or "
                                "choose another --out",
                                path, who));
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string line = fmt::format("process {} on {}\n", ::getpid(), host.data());
  // What is written is for messages only: a disk that is full does not matter.
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, line.data(), line.size(), 0) < 0) return;
}

FileLock::~FileLock() {
  ::close(fd_);
}

std::string FileLock::holder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return "";
  std::string who;
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) who = written_holder(fd);
  ::close(fd);
  return who;
}

}  // namespace weft::sweep
