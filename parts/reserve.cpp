// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/reserve.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "configs/types.h"
#include "parts/byte_stream.h"

namespace weft::parts {
namespace {

/// Ends the process when nobody wants it.
std::string wait_in_reserve(int from) {
  uint64_t size = 0;
  char length[sizeof size];
  if (!read_all(from, length, sizeof length)) _exit(0);
  std::memcpy(&size, length, sizeof size);
  std::string why(size, ' ');
  if (!read_all(from, why.data(), why.size())) _exit(0);
  close(from);
  return why;
}

}  // namespace

Reserve::~Reserve() {
  if (process_ == 0) return;
  close(to_it_);
  waitpid(process_, nullptr, 0);
}

void Reserve::disown() {
  if (process_ != 0) close(to_it_);
  process_ = 0;
}

std::string Reserve::make() {
  std::fflush(stdout);
  std::fflush(stderr);
  const pid_t parent = getpid();
  int ends[2] = {-1, -1};
  process_ = pipe(ends) == 0 ? fork() : -1;
  if (process_ < 0) {
    const int error = errno;
    process_ = 0;
    throw UserError(
        ExitCode::internal,
        fmt::format("--parts: no process in reserve ({}); run without --parts", std::strerror(error)));
  }
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[1]);
    setpgid(0, 0);  // part 0 passes signals on: none comes twice
    return wait_in_reserve(ends[0]);
  }
  close(ends[0]);
  to_it_ = ends[1];
  return {};
}

int Reserve::start(const std::string& why, const std::function<int()>& stop) {
  std::fflush(stdout);
  std::fflush(stderr);
  const uint64_t size = why.size();
  char length[sizeof size];
  std::memcpy(length, &size, sizeof size);
  if (!write_all(to_it_, length, sizeof length) || !write_all(to_it_, why.data(), why.size()))
    throw UserError(ExitCode::internal, "--parts: the process in reserve is gone; run without --parts");
  int status = 0;
  bool told = false;
  for (pid_t over = 0; over == 0; over = waitpid(process_, &status, WNOHANG)) {
    usleep(2'000);
    const int signal = stop();
    if (signal != 0 && !told) kill(process_, signal);
    told = told || signal != 0;
  }
  process_ = 0;
  close(to_it_);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace weft::parts
