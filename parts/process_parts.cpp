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
#include <new>
#include <thread>
#include <utility>

#include "parts/byte_stream.h"

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
    Word word;
  };
  Slot slots[1];  ///< by parity and part; the memory is as long as needed
  Slot& slot(uint32_t parity, uint32_t part, uint32_t parts) { return slots[size_t{parity} * parts + part]; }
};

ProcessParts::ProcessParts(Cut cut) : Parts(std::move(cut)) {
  const uint64_t slots = sizeof(Board) + sizeof(Board::Slot) * 2 * cut_.parts;
  board_ = new (shared_memory(slots)) Board;
  for (uint32_t i = 0; i < 2 * cut_.parts; ++i) new (&board_->slots[i]) Board::Slot;
  ring_bytes_ = sizeof(PartTransfer) + kRingTransfers * sizeof(PartTransfer);
  if (cut_.parts == 1) return;
  rings_ = static_cast<char*>(shared_memory(2 * uint64_t{cut_.parts} * cut_.parts * ring_bytes_));
  for (uint32_t i = 0; i < 2 * cut_.parts * cut_.parts; ++i) new (rings_ + i * ring_bytes_) Ring;
}

ProcessParts::~ProcessParts() {
  end_others({});
}

void ProcessParts::end_others(const std::string&) {
  for (pid_t& other : others_) {
    if (other == 0) continue;
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    other = 0;
  }
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
  if (std::string why = reserve_.make(); !why.empty()) return why;
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
    // Part 0 hears of signals and tells the others at the next meeting. Whoever signals all processes of a
    // group (a terminal, timeout, srun) signals part 0, too.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    reserve_.disown();
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
  ring.earliest = std::min(ring.earliest, transfer.acts);
  ++statistics_.transfers;
}

void ProcessParts::exchange(Word own) {
  for (uint32_t to = 0; to < cut_.parts; ++to)
    if (to != self_) own.state.next = std::min(own.state.next, ring_at(self_, to, write_).earliest);
  board_->slot(write_, self_, cut_.parts).word = own;
  wait_for_all();
  for (uint32_t part = 0; part < cut_.parts; ++part)
    words_[part] = board_->slot(write_, part, cut_.parts).word;
  std::swap(write_, read_);
  for (uint32_t to = 0; to < cut_.parts; ++to)
    if (to != self_) ring_at(self_, to, write_) = Ring{};
}

Parts::Batch ProcessParts::inbox(uint32_t from) const {
  if (from == self_) return {};
  const Ring& ring = ring_at(from, self_, read_);
  return {transfers(ring), ring.count};
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
        fmt::format("part {} of {} {} in window {}, and the run cannot go on without it; {}. Start it "
                    "again, with fewer parts if memory ran out",
                    i + 1, cut_.parts, how, statistics_.windows, ranks_of(i + 1)));
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
