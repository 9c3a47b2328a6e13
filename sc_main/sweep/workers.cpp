// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "configs/types.h"

namespace weft::sweep {
namespace {

constexpr size_t kMostOutput = size_t{256} << 20;
constexpr size_t kMostErrors = size_t{1} << 20;

[[noreturn]] void fail(const char* call) {
  throw UserError(
      ExitCode::internal,
      fmt::format("a point cannot be started: {}: {}; use fewer --jobs, and run the same command again to "
                  "go on",
                  call, std::strerror(errno)));
}

std::string take(int fd, size_t most) {
  struct stat status {};
  std::string text;
  if (::fstat(fd, &status) == 0) text.resize(std::min(most, static_cast<size_t>(status.st_size)));
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  ::close(fd);
  return text;
}

[[noreturn]] void become(char* const* arguments, int out, int err, pid_t parent, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it had gone before that
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::execv("/proc/self/exe", arguments);
  ::_exit(127);
}

}  // namespace

size_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<size_t>(CPU_COUNT(&set));
  const long all = ::sysconf(_SC_NPROCESSORS_ONLN);  // more processors than the set holds
  return all > 0 ? static_cast<size_t>(all) : 1;
}

Workers::Workers(size_t most) : most_(most) {
  // Blocked, so that none is missed between looking and waiting.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, &mask_before_);
}

Workers::~Workers() {
  kill_all();
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Workers::start(size_t number, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>("weft")};
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Child child;
  child.number = number;
  child.out = ::memfd_create("out", MFD_CLOEXEC);
  child.err = ::memfd_create("err", MFD_CLOEXEC);
  if (child.out < 0 || child.err < 0) fail("memfd_create");
  children_.reserve(children_.size() + 1);
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid < 0) fail("fork");
  if (child.pid == 0) become(argv.data(), child.out, child.err, parent, mask_before_);
  ::setpgid(child.pid, child.pid);  // here too: kill_all() may come before the child does it
  children_.push_back(child);
}

Workers::Ended Workers::end(const Child& child, int status) const {
  Ended ended;
  ended.number = child.number;
  ended.by_signal = WIFSIGNALED(status);
  ended.exit_code = ended.by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ended.out = take(child.out, kMostOutput);
  ended.err = take(child.err, kMostErrors);
  return ended;
}

std::optional<Workers::Ended> Workers::wait() {
  for (int round = 0; round < 2; ++round) {
    for (auto it = children_.begin(); it != children_.end(); ++it) {
      int status = 0;
      if (::waitpid(it->pid, &status, WNOHANG) != it->pid) continue;
      const Child child = *it;
      children_.erase(it);
      return end(child, status);
    }
    if (round != 0 || children_.empty()) break;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    const timespec tenth{0, 100000000};
    if (::sigtimedwait(&set, nullptr, &tenth) < 0) break;
  }
  return std::nullopt;
}

void Workers::kill_all() {
  for (const Child& child : children_) {
    ::kill(-child.pid, SIGKILL);
    ::kill(child.pid, SIGKILL);
  }
  for (const Child& child : children_) {
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(child.out);
    ::close(child.err);
  }
  children_.clear();
}

}  // namespace weft::sweep
