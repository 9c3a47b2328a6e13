// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/server/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "configs/types.h"

namespace weft::emulation {
namespace {

constexpr size_t kLongestLine = 1 << 16;

void write_all(int to, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(to, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody reads: the program goes on
    done += static_cast<size_t>(n);
  }
}

[[noreturn]] void become(const std::vector<std::string>& command, const Variables& variables, int out,
                         int err, int failure, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  ::unsetenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE");
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Process::Process(uint32_t rank, const std::vector<std::string>& command, const Variables& variables,
                 bool quiet)
    : rank_(rank), quiet_(quiet) {
  int out[2], err[2], failure[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0 || ::pipe2(failure, O_CLOEXEC) != 0)
    throw UserError(ExitCode::internal, fmt::format("rank {}: pipe: {}", rank, std::strerror(errno)));
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(command, variables, out[1], err[1], failure[1], parent);
  const int error = errno;
  ::close(out[1]);
  ::close(err[1]);
  ::close(failure[1]);
  out_ = out[0];
  err_ = err[0];
  if (pid_ < 0)
    throw UserError(ExitCode::internal, fmt::format("rank {}: fork: {}", rank, std::strerror(error)));
  ::setpgid(pid_, pid_);
  int code = 0;
  const ssize_t got = ::read(failure[0], &code, sizeof code);
  ::close(failure[0]);
  if (got == sizeof code) {
    ::waitpid(pid_, &status_, 0);
    ended_ = true;
    throw UserError(ExitCode::usage, fmt::format("the command after `--` cannot be started: {}: {}",
                                                 command.front(), std::strerror(code)));
  }
  ::fcntl(out_, F_SETFL, O_NONBLOCK);
  ::fcntl(err_, F_SETFL, O_NONBLOCK);
  end_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

Process::~Process() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
  if (pid_ > 0 && !ended_) ::waitpid(pid_, &status_, 0);
  for (const int fd : {out_, err_, end_})
    if (fd >= 0) ::close(fd);
}

bool Process::forward(int& from, std::string& line, int to) {
  char data[65536];
  bool any = false;
  while (from >= 0) {
    const ssize_t got = ::read(from, data, sizeof data);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    if (got == 0) {
      ::close(from);
      from = -1;
      if (!line.empty()) line += '\n';
    }
    any = true;
    line.append(data, static_cast<size_t>(got));
    if (line.size() > kLongestLine && line.find('\n') == std::string::npos) line += '\n';
    std::string whole;
    size_t begin = 0;
    for (size_t stop = 0; (stop = line.find('\n', begin)) != std::string::npos; begin = stop + 1)
      whole += fmt::format("[{}] {}\n", rank_, std::string_view(line).substr(begin, stop - begin));
    line.erase(0, begin);
    if (to >= 0) write_all(to, whole);
  }
  return any;
}

bool Process::forward_output() {
  const bool out = forward(out_, out_line_, quiet_ ? -1 : 1);
  const bool err = forward(err_, err_line_, 2);
  return out || err;
}

bool Process::ended() {
  if (ended_) return true;
  pid_t result = 0;
  do {
    result = ::waitpid(pid_, &status_, WNOHANG);
  } while (result < 0 && errno == EINTR);
  ended_ = result == pid_;
  return ended_;
}

std::string Process::how() const {
  if (WIFSIGNALED(status_))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
  return fmt::format("has exited with status {}", WEXITSTATUS(status_));
}

int Process::status() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

}  // namespace weft::emulation
