// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/banked_hbm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace weft {

BankedHbm::BankedHbm(sc_core::sc_module_name module_name, const DramSpec& spec, uint32_t stacks,
                     uint64_t capacity, uint32_t sockets, vcd::Waves* waves)
    : MemoryTarget(module_name, capacity, sockets, waves),
      spec_(spec),
      stacks_(stacks),
      stream_bytes_(uint64_t{stacks} * spec.channels * spec.pseudo_channels * spec.bank_groups * 8 *
                    spec.burst_bytes),
      piece_bytes_(uint64_t{stacks} * spec.channels * spec.pseudo_channels * spec.bank_groups *
                   spec.row_bytes),
      stream_rate_(spec.stream_efficiency() * spec.stack_peak() * stacks * 1e-12) {
  if (waves == nullptr || !waves->on()) return;
  for (uint32_t c = 0; c < channels(); ++c) {
    const std::string prefix = fmt::format("{}.channel{}.", name(), c);
    probes_.push_back({waves->number(prefix + "queue", 16), waves->number(prefix + "row_hits", 64)});
  }
}

Picoseconds BankedHbm::busy() const {
  const uint64_t pins = uint64_t{stacks_} * spec_.channels * spec_.pseudo_channels;
  return stream_time_ + issued_ * spec_.burst / pins;
}

// Channels look less than this ahead, so that their times need no checks of their own.
constexpr Picoseconds kAhead = 1000000000000;

void BankedHbm::begin(Ticket ticket, const Access& access, Picoseconds at) {
  static_cast<void>(later(at, kAhead));
  if (ticket >= pending_.size()) pending_.resize(ticket + 1);
  pending_[ticket] = {access, 0, 0};
  arrivals_.push(at, arrived_++, ticket);
  wake_at(at);
}

void BankedHbm::work(Picoseconds now) {
  in_time([&] { return later(now, kAhead); },
          [&] { return fmt::format("{}: the accesses that wait for this memory", name()); },
          "check their sizes, and the bandwidth of the memory");
  // What has come meanwhile goes before the next piece.
  const bool piece_ended = streaming_ && stream_until_ <= now;
  while (arrivals_.next() <= now) arrive(arrivals_.pop().payload, now);
  if (piece_ended) {
    streaming_ = false;
    turn_ = submitted_;
  }
  if (!streaming_) {
    for (uint32_t c = 0; c < next_.size(); ++c) {
      if (next_[c] <= now) serve_channel(c, now);
    }
  }
  serve_streams(now);
  Picoseconds next = arrivals_.next();
  if (streaming_) {
    next = std::min(next, stream_until_);
  } else if (issued_ < submitted_) {
    next = std::min(next, *std::min_element(next_.begin(), next_.end()));
  }
  if (next != kNever) wake_at(std::max(next, now));
}

// Most jobs stream only: their NPUs do not pay for banks.
void BankedHbm::make_channels() {
  channels_.reserve(channels());
  for (uint32_t c = 0; c < channels(); ++c) {
    channels_.emplace_back(spec_);
    channels_.back().block(stream_until_);
  }
  next_.assign(channels(), kNever);
}

void BankedHbm::arrive(Ticket ticket, Picoseconds now) {
  Pending& p = pending_[ticket];
  if (p.access.length >= stream_bytes_) {
    streams_.push_back(ticket);
    return;
  }
  if (channels_.empty()) make_channels();
  const uint64_t first = p.access.address / spec_.burst_bytes;
  const uint64_t last = (p.access.address + p.access.length - 1) / spec_.burst_bytes;
  p.bursts = last - first + 1;
  submitted_ += p.bursts;
  for (uint64_t burst = first; burst <= last; ++burst) {
    const DramAddress a = map_address(spec_, stacks_, burst * spec_.burst_bytes);
    channels_[a.channel].submit(a.pseudo_channel, {a.row, a.bank, p.access.write, ticket}, now);
    next_[a.channel] = now;  // to be asked again
  }
}

void BankedHbm::serve_channel(uint32_t c, Picoseconds now) {
  DramChannel& channel = channels_[c];
  done_.clear();
  channel.advance(now, done_);
  next_[c] = channel.next();
  issued_ += done_.size();
  for (const DramChannel::Completion& d : done_) {
    const auto ticket = static_cast<Ticket>(d.token);
    Pending& p = pending_[ticket];
    p.last = std::max(p.last, d.at);
    burst_until_ = std::max(burst_until_, d.at - (spec_.controller - spec_.controller / 2));
    moved_ += spec_.burst_bytes;
    if (--p.bursts == 0) finish(ticket, p.last);
  }
  if (!probes_.empty()) {
    probes_[c].queue.set(now, channel.waiting());
    probes_[c].hits.set(now, channel.counters().hits);
  }
  if (bytes_probe_ && !done_.empty()) bytes_probe_.set(now, moved_);
}

void BankedHbm::serve_streams(Picoseconds now) {
  if (streaming_ || streams_.empty() || issued_ < turn_) return;
  const Ticket ticket = streams_.front();
  const Pending& p = pending_[ticket];
  const Picoseconds start = std::max(now, burst_until_);
  const uint64_t bytes = std::min(piece_bytes_, p.access.length - streamed_);
  // Each piece from the request's first byte, so that rounding does not add up.
  const auto time_of = [&](uint64_t n) {
    return static_cast<Picoseconds>(std::ceil(static_cast<double>(n) / stream_rate_));
  };
  const Picoseconds time = time_of(streamed_ + bytes) - time_of(streamed_);
  stream_until_ = later(start, time);
  stream_time_ += time;
  streaming_ = true;
  for (DramChannel& channel : channels_) channel.block(stream_until_);
  for (uint32_t c = 0; c < next_.size(); ++c) {
    if (next_[c] != kNever) next_[c] = stream_until_;
  }
  streamed_ += bytes;
  moved_ += bytes;
  if (bytes_probe_) bytes_probe_.set(stream_until_, moved_);
  if (streamed_ < p.access.length) return;
  // Behind the last byte: the way of any read through controller, bank and pins; a write ends at the pins.
  const Picoseconds way =
      spec_.controller + (p.access.write ? spec_.rcd_write + spec_.wl : spec_.rcd_read + spec_.rl);
  finish(ticket, stream_until_ + way);
  streams_.pop_front();
  streamed_ = 0;
}

}  // namespace weft
