// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/hbm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

/// Shares of so many initiators are exact; those of more are rounded down to scale_.
constexpr uint32_t kExactShares = 16;

}  // namespace

MemoryTiming hbm_timing(const HbmConfig& config) {
  return {config.bandwidth, config.latency, config.capacity, config.efficiency};
}

Hbm::Hbm(sc_core::sc_module_name name, const MemoryTiming& timing, uint32_t sockets, vcd::ProbeHub* probes)
    : MemoryTarget(name, timing.capacity, sockets, probes), timing_(timing) {
  if (timing_.efficiency < 1.0 && timing_.bandwidth.bytes_per_second != 0) {
    timing_.bandwidth = {static_cast<uint64_t>(std::llround(timing.bandwidth.value() * timing.efficiency)),
                         1};
  }
  if (sockets < 2 || timing.in_order) return;
  clients_.resize(sockets);
  for (uint64_t n = 2; n <= std::min(sockets, kExactShares); ++n) scale_ = std::lcm(scale_, n);
}

Picoseconds Hbm::time_of(uint64_t bytes) const {
  return timing_.bandwidth.bytes_per_second == 0 ? 0 : transfer_time(bytes, timing_.bandwidth);
}

void Hbm::begin(Ticket ticket, const Access& access, Picoseconds at) {
  const Picoseconds start = at > free_at_ ? at : free_at_;
  const Picoseconds time = time_of(access.length);
  free_at_ = later(start, time);
  busy_ += time;
  const Picoseconds answer = later(free_at_, timing_.latency);
  if (clients_.empty()) {
    if (causes_ != nullptr) causes_->served(ticket, start, free_at_);
    if (bytes_probe_) bytes_probe_.set(free_at_, bytes());
    finish(ticket, answer);
    return;
  }
  const Waiting waiting{ticket, access.client, access.length, static_cast<Wide>(time) * scale_};
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (at > now) {
    arrivals_.push(at, arrived_++, waiting);
    wake_at(at);
    return;
  }
  serve(now);
  join(waiting, now);
  wake_at(next_end());
}

void Hbm::join(const Waiting& access, Picoseconds now) {
  if (active_ == 0) served_until_ = now;
  Fifo<Waiting>& queue = clients_[access.client];
  if (queue.empty()) ++active_;
  queue.push_back(access);
}

/// When the first access ends, if no further one comes.
Picoseconds Hbm::next_end() const {
  if (active_ == 0) return kNever;
  Wide least = ~Wide{0};
  for (const Fifo<Waiting>& queue : clients_)
    if (!queue.empty()) least = std::min(least, queue.front().left);
  return later(served_until_, within_time((least * active_ + scale_ - 1) / scale_));
}

void Hbm::serve(Picoseconds now) {
  while (active_ != 0) {
    const Picoseconds end = next_end();
    const Picoseconds until = std::min(now, end);
    const Wide served = static_cast<Wide>(until - served_until_) * scale_ / active_;
    served_until_ = until;
    uint32_t over = 0;
    for (Fifo<Waiting>& queue : clients_) {
      if (queue.empty()) continue;
      Waiting& first = queue.front();
      first.left -= std::min(first.left, served);
      if (first.left != 0) continue;
      moved_ += first.length;
      if (causes_ != nullptr) causes_->shared(first.ticket, until, time_of(first.length));
      finish(first.ticket, later(until, timing_.latency));
      queue.pop_front();
      if (queue.empty()) ++over;
    }
    active_ -= over;
    if (end > now) break;
    if (bytes_probe_) bytes_probe_.set(until, moved_);
  }
}

void Hbm::work(Picoseconds now) {
  if (clients_.empty()) return;
  serve(now);
  while (arrivals_.next() <= now) join(arrivals_.pop().payload, now);
  const Picoseconds next = std::min(next_end(), arrivals_.next());
  if (next != kNever) wake_at(next);
}

}  // namespace weft
