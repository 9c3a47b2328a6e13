// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/process_parts.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>
#include <utility>

namespace weft::parts {
namespace {

constexpr uint64_t kRingTransfers = uint64_t{1}
                                    << 20;  ///< of a pair of parts in one window; pages come when needed
constexpr size_t kTextBytes = 8192;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void* shared_memory(uint64_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw UserError(
        ExitCode::internal,
        fmt::format("--parts: no shared memory of {} MiB between the parts ({}); use fewer parts, or "
                    "run in one process",
                    bytes >> 20, std::strerror(errno)));
  return memory;
}

void wake_all(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

/// Until the word is no longer `value`, or some time has passed.
void sleep_while(std::atomic<uint32_t>& word, uint32_t value) {
  const timespec most{0, 20'000'000};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, &most, nullptr, 0);
}

/// In a loop that waits for another processor.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Reads exactly so much. False: the other end is closed.
bool read_all(int file, char* to, size_t size) {
  while (size != 0) {
    const ssize_t got = read(file, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int file, const char* from, size_t size) {
  while (size != 0) {
    const ssize_t done = write(file, from, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    from += done;
    size -= static_cast<size_t>(done);
  }
  return true;
}

}  // namespace

/// In shared memory.
struct ProcessParts::Board {
  std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> meetings{0};
  std::atomic<uint32_t> failed{0};  ///< the part's number + 1
  std::atomic<uint32_t> failing{0};
  int32_t code = 0;
  char text[kTextBytes] = {};
  struct alignas(64) Slot {
    State state;
    uint64_t number = 0;
    double cpu_seconds = 0;  ///< of the last window
  };
  Slot slots[1];  ///< by parity and part; the memory is as long as needed
  Slot& slot(uint32_t parity, uint32_t part, uint32_t parts) { return slots[size_t{parity} * parts + part]; }
};

ProcessParts::ProcessParts(Cut cut) : cut_(std::move(cut)) {
  const uint64_t slots = sizeof(Board) + sizeof(Board::Slot) * 2 * cut_.parts;
  board_ = new (shared_memory(slots)) Board;
  for (uint32_t i = 0; i < 2 * cut_.parts; ++i) new (&board_->slots[i]) Board::Slot;
  ring_bytes_ = sizeof(PartTransfer) + kRingTransfers * sizeof(PartTransfer);
  if (cut_.parts == 1) return;
  rings_ = static_cast<char*>(shared_memory(2 * uint64_t{cut_.parts} * cut_.parts * ring_bytes_));
  for (uint32_t i = 0; i < 2 * cut_.parts * cut_.parts; ++i) new (rings_ + i * ring_bytes_) Ring;
}

ProcessParts::~ProcessParts() {
  end_others();
  if (reserve_ == 0) return;
  close(to_reserve_);
  waitpid(reserve_, nullptr, 0);
}

void ProcessParts::end_others() {
  for (pid_t& other : others_) {
    if (other == 0) continue;
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    other = 0;
  }
}

/// Of the process in reserve: why it is to do all. Ends the process when nobody wants it.
std::string ProcessParts::wait_in_reserve(int from) {
  uint64_t size = 0;
  char length[sizeof size];
  if (!read_all(from, length, sizeof length)) _exit(0);
  std::memcpy(&size, length, sizeof size);
  std::string why(size, ' ');
  if (!read_all(from, why.data(), why.size())) _exit(0);
  close(from);
  return why;
}

int ProcessParts::start_again(const std::string& why, const std::function<int()>& stop) {
  end_others();
  std::fflush(stdout);
  std::fflush(stderr);
  const uint64_t size = why.size();
  char length[sizeof size];
  std::memcpy(length, &size, sizeof size);
  if (!write_all(to_reserve_, length, sizeof length) || !write_all(to_reserve_, why.data(), why.size()))
    throw UserError(ExitCode::internal, "--parts: the process in reserve is gone; run without --parts");
  int status = 0;
  bool told = false;
  for (pid_t over = 0; over == 0; over = waitpid(reserve_, &status, WNOHANG)) {
    usleep(2'000);
    const int signal = stop();
    if (signal != 0 && !told) kill(reserve_, signal);
    told = told || signal != 0;
  }
  reserve_ = 0;
  close(to_reserve_);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ProcessParts::Ring& ProcessParts::ring_at(uint32_t from, uint32_t to, uint32_t parity) const {
  const uint64_t number = (uint64_t{parity} * cut_.parts + from) * cut_.parts + to;
  return *reinterpret_cast<Ring*>(rings_ + number * ring_bytes_);
}

PartTransfer* ProcessParts::transfers(const Ring& ring) {
  return reinterpret_cast<PartTransfer*>(reinterpret_cast<char*>(const_cast<Ring*>(&ring)) +
                                         sizeof(PartTransfer));
}

std::string ProcessParts::split() {
  std::fflush(stdout);
  std::fflush(stderr);
  const pid_t parent = getpid();
  int reserve_ends[2] = {-1, -1};
  reserve_ = pipe(reserve_ends) == 0 ? fork() : -1;
  if (reserve_ < 0)
    throw UserError(
        ExitCode::internal,
        fmt::format("--parts: no process in reserve ({}); run without --parts", std::strerror(errno)));
  if (reserve_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(reserve_ends[1]);
    setpgid(0, 0);  // part 0 passes signals on: none comes twice
    return wait_in_reserve(reserve_ends[0]);
  }
  close(reserve_ends[0]);
  to_reserve_ = reserve_ends[1];
  for (uint32_t part = 1; part < cut_.parts; ++part) {
    int ends[2] = {-1, -1};
    const pid_t other = pipe(ends) == 0 ? fork() : -1;
    if (other < 0)
      throw UserError(ExitCode::internal, fmt::format("--parts: no process for part {} ({}); use fewer parts",
                                                      part, std::strerror(errno)));
    if (other != 0) {
      close(ends[1]);
      others_.push_back(other);
      pipes_.push_back(ends[0]);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    // Part 0 hears of signals and tells the others at the next meeting.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_DFL);
    close(to_reserve_);
    reserve_ = 0;
    for (const int file : pipes_) close(file);
    close(ends[0]);
    pipes_ = {ends[1]};
    others_.clear();
    self_ = part;
    break;
  }
  return {};
}

void ProcessParts::post(uint32_t part, const PartTransfer& transfer) {
  Ring& ring = ring_at(self_, part, write_);
  if (ring.count == kRingTransfers)
    throw UserError(
        ExitCode::usage,
        fmt::format("--parts: part {} sends more than {} messages to part {} within {}; run in one "
                    "process, or with another number of parts",
                    self_, kRingTransfers, part, "one window"));
  transfers(ring)[ring.count++] = transfer;
  ring.earliest = std::min(ring.earliest, transfer.transfer.first);
  ++statistics_.transfers;
}

double ProcessParts::cpu_seconds() const {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Meeting ProcessParts::meet(const State& own) {
  if (statistics_.windows++ == 0) {
    began_ = seconds();
    cpu_began_ = cpu_last_ = cpu_seconds();
  }
  const double cpu = cpu_seconds();
  Board::Slot& mine = board_->slot(write_, self_, cut_.parts);
  mine.state = own;
  mine.cpu_seconds = cpu - cpu_last_;
  for (uint32_t to = 0; to < cut_.parts; ++to)
    if (to != self_) mine.state.next = std::min(mine.state.next, ring_at(self_, to, write_).earliest);
  wait_for_all();
  Meeting meeting;
  double slowest = 0;
  for (uint32_t part = 0; part < cut_.parts; ++part) {
    const Board::Slot& slot = board_->slot(write_, part, cut_.parts);
    meeting.next = std::min(meeting.next, slot.state.next);
    meeting.clock = std::max(meeting.clock, slot.state.clock);
    meeting.finished = meeting.finished && slot.state.finished;
    meeting.stop = meeting.stop || slot.state.stop;
    meeting.stuck = meeting.stuck || slot.state.stuck;
    meeting.done += slot.state.done;
    slowest = std::max(slowest, slot.cpu_seconds);
  }
  statistics_.critical_seconds += slowest;
  std::swap(write_, read_);
  for (uint32_t to = 0; to < cut_.parts; ++to) {
    if (to == self_) continue;
    Ring& ring = ring_at(self_, to, write_);
    ring = Ring{};
  }
  cpu_last_ = cpu_seconds();
  statistics_.seconds = seconds() - began_;
  statistics_.cpu_seconds = cpu_last_ - cpu_began_;
  return meeting;
}

uint64_t ProcessParts::largest(uint64_t own) {
  board_->slot(write_, self_, cut_.parts).number = own;
  const uint32_t parity = write_;
  meet({});
  uint64_t number = own;
  for (uint32_t part = 0; part < cut_.parts; ++part)
    number = std::max(number, board_->slot(parity, part, cut_.parts).number);
  return number;
}

void ProcessParts::wait_for_all() {
  if (cut_.parts == 1) return;
  const double begin = seconds();
  const uint32_t meeting = board_->meetings.load(std::memory_order_acquire);
  if (board_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == cut_.parts) {
    board_->arrived.store(0, std::memory_order_relaxed);
    board_->meetings.store(meeting + 1, std::memory_order_release);
    wake_all(board_->meetings);
    return;
  }
  // The others are mostly there soon; where there are more parts than processors, they need this one.
  static const bool crowded = cut_.parts > std::max(1u, std::thread::hardware_concurrency());
  const int spins = crowded ? 0 : 4000;
  for (int i = 0; i < spins && board_->meetings.load(std::memory_order_acquire) == meeting; ++i) relax();
  while (board_->meetings.load(std::memory_order_acquire) == meeting) {
    sleep_while(board_->meetings, meeting);
    if (board_->meetings.load(std::memory_order_acquire) == meeting) check_others();
  }
  statistics_.waiting_seconds += seconds() - begin;
}

/// Nothing may hang because a part is no longer there.
void ProcessParts::check_others() {
  if (board_->failed.load(std::memory_order_acquire) != 0) {
    if (first()) tell_failure();
    _exit(1);
  }
  for (uint32_t i = 0; i < others_.size(); ++i) {
    int status = 0;
    if (others_[i] == 0 || waitpid(others_[i], &status, WNOHANG) != others_[i]) continue;
    others_[i] = 0;
    if (board_->failed.load(std::memory_order_acquire) != 0) tell_failure();
    const std::string how = WIFSIGNALED(status) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                                              strsignal(WTERMSIG(status)))
                                                : fmt::format("ended with code {}", WEXITSTATUS(status));
    throw UserError(
        ExitCode::internal,
        fmt::format("part {} of {} {} in window {}, and the run cannot go on without it; its ranks "
                    "are those with {} * {} / {} = {}. Start it again, with fewer parts if memory ran out",
                    i + 1, cut_.parts, how, statistics_.windows, cut_.text(), cut_.parts, cut_.size, i + 1));
  }
}

void ProcessParts::tell_failure() {
  throw UserError(static_cast<ExitCode>(board_->code), board_->text);
}

std::vector<std::string> ProcessParts::gather(std::string own) {
  std::vector<std::string> all;
  if (!first()) {
    const uint64_t size = own.size();
    char length[sizeof size];
    std::memcpy(length, &size, sizeof size);
    if (!write_all(pipes_[0], length, sizeof length) || !write_all(pipes_[0], own.data(), own.size()))
      _exit(1);
    return all;
  }
  all.push_back(std::move(own));
  for (uint32_t i = 0; i < others_.size(); ++i) {
    char length[sizeof(uint64_t)];
    uint64_t size = 0;
    std::string text;
    bool whole = read_all(pipes_[i], length, sizeof length);
    if (whole) {
      std::memcpy(&size, length, sizeof size);
      text.resize(size);
      whole = read_all(pipes_[i], text.data(), size);
    }
    if (!whole) {
      for (int tries = 0; tries < 50; ++tries) {
        check_others();
        usleep(20'000);
      }
      throw UserError(ExitCode::internal, fmt::format("part {} of {} gave no results", i + 1, cut_.parts));
    }
    all.push_back(std::move(text));
  }
  return all;
}

void ProcessParts::leave() {
  std::fflush(stderr);
  _exit(0);
}

void ProcessParts::fail(ExitCode code, const std::string& text) {
  if (board_->failing.exchange(1) == 0) {
    board_->code = static_cast<int32_t>(code);
    const std::string full = fmt::format("part {} of {}: {}", self_, cut_.parts, text);
    const size_t size = std::min(full.size(), kTextBytes - 1);
    std::memcpy(board_->text, full.data(), size);
    board_->text[size] = 0;
    board_->failed.store(self_ + 1, std::memory_order_release);
  }
  _exit(1);
}

}  // namespace weft::parts
