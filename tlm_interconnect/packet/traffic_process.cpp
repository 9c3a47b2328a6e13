// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/traffic_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>

#include "configs/stop.h"

namespace weft::packet {
namespace {

constexpr int kWait_ms = 200;

static_assert(std::atomic<uint64_t>::is_always_lock_free);
std::atomic<uint64_t>& cell(void* memory, size_t run) {
  return static_cast<std::atomic<uint64_t>*>(memory)[run];
}

// -- results through a pipe

void put(std::string& out, const void* data, size_t n) {
  out.append(static_cast<const char*>(data), n);
}
void put(std::string& out, const std::string& s) {
  const uint64_t n = s.size();
  put(out, &n, sizeof n);
  out += s;
}

struct Flat {
  double load, avg, p50, p99, min, max, accepted, wall, cpu, paused;
  uint64_t seed, packets, hops, activations, digest, pauses, overruns;
  uint64_t saturated, marked, notifications, slowed;
};

std::string pack(const TrafficPoint& p) {
  const Flat flat{
      p.load,           p.avg_latency,   p.p50,         p.p99,          p.min_latency, p.max_latency,
      p.accepted,       p.wall_s,        p.cpu_s,       p.paused_share, p.seed,        p.packets,
      p.packet_hops,    p.activations,   p.digest,      p.pauses,       p.overruns,    p.saturated ? 1u : 0u,
      p.packets_marked, p.notifications, p.flows_slowed};
  std::string out(1, 'p');
  put(out, &flat, sizeof flat);
  put(out, p.stall);
  return out;
}

bool unpack(const std::string& in, TrafficPoint& p) {
  Flat flat;
  uint64_t n = 0;
  if (in.size() < 1 + sizeof flat + sizeof n || in[0] != 'p') return false;
  std::memcpy(&flat, in.data() + 1, sizeof flat);
  std::memcpy(&n, in.data() + 1 + sizeof flat, sizeof n);
  if (in.size() != 1 + sizeof flat + sizeof n + n) return false;
  p.stall = in.substr(1 + sizeof flat + sizeof n);
  p.load = flat.load;
  p.avg_latency = flat.avg;
  p.p50 = flat.p50;
  p.p99 = flat.p99;
  p.min_latency = flat.min;
  p.max_latency = flat.max;
  p.accepted = flat.accepted;
  p.wall_s = flat.wall;
  p.cpu_s = flat.cpu;
  p.seed = flat.seed;
  p.packets = flat.packets;
  p.packet_hops = flat.hops;
  p.activations = flat.activations;
  p.digest = flat.digest;
  p.pauses = flat.pauses;
  p.paused_share = flat.paused;
  p.overruns = flat.overruns;
  p.saturated = flat.saturated != 0;
  p.packets_marked = flat.marked;
  p.notifications = flat.notifications;
  p.flows_slowed = flat.slowed;
  return true;
}

void write_all(int fd, const std::string& text) {
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

/// Of a child that is ended when somebody asks to stop.
std::string read_all(int fd, pid_t child, const std::function<void()>& waiting) {
  std::string text;
  char buffer[4096];
  for (;;) {
    if (stop_requested()) kill(child, SIGKILL);
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, kWait_ms) <= 0) {  // nothing yet, or a signal
      waiting();
      continue;
    }
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

SimulatedTimes::SimulatedTimes(size_t runs)
    : bytes_((runs + 1) * sizeof(std::atomic<uint64_t>)),
      memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
  if (memory_ == MAP_FAILED)
    throw UserError(ExitCode::internal, fmt::format("mmap: {}", std::strerror(errno)));
}

SimulatedTimes::~SimulatedTimes() {
  munmap(memory_, bytes_);
}

void SimulatedTimes::add(size_t run, Picoseconds time) {
  cell(memory_, run).fetch_add(time, std::memory_order_relaxed);
}

Picoseconds SimulatedTimes::of(size_t run) const {
  return cell(memory_, run).load(std::memory_order_relaxed);
}

TrafficProcess::TrafficProcess(const TrafficConfig& config, double load, uint64_t seed, size_t run,
                               const Advance& advance, SimulatedTimes& times)
    : run_(run) {
  int fds[2];
  if (pipe(fds) != 0) throw UserError(ExitCode::internal, fmt::format("pipe: {}", std::strerror(errno)));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    close(fds[0]);
    close(fds[1]);
    throw UserError(ExitCode::internal, fmt::format("fork: {}", std::strerror(errno)));
  }
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it had gone before that
    close(fds[0]);
    const Advance counted = [&](Picoseconds time) {
      advance(time);
      times.add(run, time);
    };
    std::string answer;
    try {
      answer = pack(run_traffic_point(config, load, seed, counted));
    } catch (const UserError& e) {
      answer = fmt::format("e{}{}", static_cast<int>(e.code()), e.what());
    } catch (const std::exception& e) {
      answer = fmt::format("e{}{}", static_cast<int>(ExitCode::internal), e.what());
    }
    write_all(fds[1], answer);
    close(fds[1]);
    _exit(0);  // nothing of the parent's is torn down here
  }
  close(fds[1]);
  pipe_ = fds[0];
}

TrafficPoint TrafficProcess::finish(const std::function<void()>& waiting) {
  const std::string answer = read_all(pipe_, pid_, waiting);
  close(pipe_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  TrafficPoint point;
  if (unpack(answer, point)) return point;
  if (answer.size() > 2 && answer[0] == 'e') {
    throw UserError(static_cast<ExitCode>(answer[1] - '0'), answer.substr(2));
  }
  throw UserError(ExitCode::internal,
                  fmt::format("a traffic run ended without a result (status {})", status));
}

}  // namespace weft::packet
