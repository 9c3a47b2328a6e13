// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/banked_hbm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace weft {
namespace {

/// From so many requests on a pseudo-channel keeps the pins busy with a stream.
constexpr uint32_t kShortcutWindow = 64;
/// A stream's bursts that wait in a pseudo-channel, at most, in units of eight a bank group.
constexpr uint64_t kFedUnits = 3;
/// Units that a stream goes burst by burst after a small access has come: changing to pieces and back costs
/// some time that the memory does not need.
constexpr uint64_t kStayUnits = 32;
/// Pieces of a turn. Shorter turns cost more turnarounds, longer ones hold up the others.
constexpr uint64_t kTurnPieces = 8;
/// Units of a stream from which on the formula is exact to 1 % where the one before it ended elsewhere.
constexpr uint64_t kShortUnits = 12;
/// Bursts whose accesses are fetched from memory while those before them are dealt with: of a long queue they
/// are in no cache.
constexpr size_t kFetchAhead = 6;

std::shared_ptr<const DramDevice> default_device(const DramSpec& spec, uint32_t stacks) {
  auto device = std::make_shared<DramDevice>();
  device->spec = spec;
  device->policies = default_dram_policies(device->spec, stacks);
  return device;
}

/// DramSpec::stream_efficiency() is the rate of a stream that has the memory for itself.
bool streams_by_formula(const DramDevice& device) {
  const DramPolicies& p = device.policies;
  // Refreshes of single banks meet the stream at times of their own.
  if (device.spec.per_bank_refresh && device.spec.refi != 0) return false;
  return !device.detailed_streams && p.map->streams() && p.scheduler->first_ready() &&
         p.window >= kShortcutWindow && !p.page->closes(~0u, true);
}

}  // namespace

BankedHbm::BankedHbm(sc_core::sc_module_name module_name, const DramSpec& spec, uint32_t stacks,
                     uint64_t capacity, uint32_t sockets, vcd::ProbeHub* probes)
    : BankedHbm(module_name, default_device(spec, stacks), stacks, capacity, sockets, probes) {}

BankedHbm::BankedHbm(sc_core::sc_module_name module_name, std::shared_ptr<const DramDevice> device,
                     uint32_t stacks, uint64_t capacity, uint32_t sockets, vcd::ProbeHub* probes)
    : MemoryTarget(module_name, capacity, sockets, probes),
      device_(std::move(device)),
      spec_(device_->spec),
      stacks_(stacks),
      stream_bytes_(uint64_t{stacks} * spec_.channels * spec_.pseudo_channels * spec_.bank_groups * 8 *
                    spec_.burst_bytes),
      piece_bytes_(uint64_t{stacks} * spec_.channels * spec_.pseudo_channels * spec_.bank_groups *
                   spec_.row_bytes),
      shortcut_(streams_by_formula(*device_)),
      stream_rate_(spec_.stream_efficiency() * spec_.stack_peak() * stacks * 1e-12),
      read_answer_(spec_.rl + spec_.burst + spec_.controller - spec_.controller / 2),
      any_answer_(std::min(spec_.rl, spec_.wl) + spec_.burst + spec_.controller - spec_.controller / 2),
      streams_(sockets) {
  if (probes == nullptr || !probes->on()) return;
  for (uint32_t c = 0; c < channels(); ++c) {
    const std::string prefix = fmt::format("{}.channel{}.", name(), c);
    probes_.push_back({probes->number(prefix + "queue", 16), probes->number(prefix + "row_hits", 64),
                       probes->number(prefix + "bytes", 64)});
    probes_.back().bytes.set(0, 0);
  }
}

Picoseconds BankedHbm::busy() const {
  const uint64_t pins = uint64_t{stacks_} * spec_.channels * spec_.pseudo_channels;
  return stream_time_ + issued_ * spec_.burst / pins;
}

/// Alone its bursts take their time on the pins, all of which they use alike, and the way of any access
/// through controller, bank and pins. What is left are other accesses, refreshes, turnarounds and rows.
void BankedHbm::tell_causes(Ticket ticket, Picoseconds at) {
  const Access& access = pending_[ticket].access;
  const uint64_t first = access.address / spec_.burst_bytes;
  const uint64_t bursts = (access.address + access.length - 1) / spec_.burst_bytes - first + 1;
  const uint64_t pins = uint64_t{stacks_} * spec_.channels * spec_.pseudo_channels;
  const Picoseconds way =
      spec_.controller + (access.write ? spec_.rcd_write + spec_.wl : spec_.rcd_read + spec_.rl);
  causes_->overlapped(ticket, at, (bursts + pins - 1) / pins * spec_.burst, way);
}

// Channels look less than this ahead, so that their times need no checks of their own.
constexpr Picoseconds kAhead = 1000000000000;

void BankedHbm::begin(Ticket ticket, const Access& access, Picoseconds at) {
  static_cast<void>(later(at, kAhead));
  if (ticket >= pending_.size()) pending_.resize(ticket + 1);
  const Picoseconds now = sc_core::sc_time_stamp().value();
  pending_[ticket] = {access, 0, false, at == now, 0};
  if (access.write) ++open_writes_;
  arrivals_.push(at - origin_, arrived_++, ticket);
  if (access.length >= stream_bytes_) ++streams_to_come_;
  wake_at(may_collect() ? at + answer_after() : std::max(now, arrivals_.next() + origin_));
}

void BankedHbm::restart() {
  origin_ = sc_core::sc_time_stamp().value();
  channels_.clear();
  next_.clear();
  lagging_ = false;
  due_ = 0;
  stream_until_ = burst_until_ = 0;
  streaming_ = rows_open_ = stream_writes_ = false;
  streamed_rows_.clear();
  for (Streams& s : streams_) s.end = ~uint64_t{0};
  stream_end_ = ~uint64_t{0};
  turn_ = 0;
  turn_bytes_ = 0;
  small_seen_ = small_;
  stay_ = fed_;
}

void BankedHbm::work(Picoseconds time) {
  in_time([&] { return later(time, kAhead); },
          [&] { return fmt::format("{}: the accesses that wait for this memory", name()); },
          "check their sizes, and the bandwidth of the memory");
  const Picoseconds now = time - origin_;
  if (lagging_ && may_collect() && now < when_due()) return wake_when_due();
  // What has come meanwhile goes before the next piece.
  const bool piece_ended = streaming_ && stream_until_ <= now;
  if (may_lag()) begin_to_lag(now);
  arrivals_until(now);
  if (piece_ended) streaming_ = false;
  if (may_lag()) {
    begin_to_lag(now);
    serve_lagging(now);
    return wake_when_due();
  }
  if (!streaming_) {
    if (streaming_clients_ != 0 && in_detail()) feed_stream(now);
    for (uint32_t c = 0; c < next_.size(); ++c) {
      if (next_[c] <= now) serve_channel(c, now);
    }
  }
  if (!streaming_ && streaming_clients_ != 0 && issued_ == submitted_ && !in_detail()) begin_piece(now);
  Picoseconds next = arrivals_.next();
  if (streaming_) {
    next = std::min(next, stream_until_);
  } else if (issued_ < submitted_) {
    next = std::min(next, *std::min_element(next_.begin(), next_.end()));
  } else if (streaming_clients_ != 0) {
    next = now;  // the rest of a stream
  }
  if (next != kNever) wake_at(std::max(next, now) + origin_);
}

/// The requests that have come by `now`, those of an instant together.
void BankedHbm::arrivals_until(Picoseconds now) {
  while (arrivals_.next() <= now) {
    const Picoseconds at = arrivals_.next();
    ++instant_;
    while (arrivals_.next() == at) arrive(arrivals_.pop().payload, at);
  }
}

/// The commands before `now`, and those at `now` if the request comes after them.
void BankedHbm::catch_up(uint32_t channel, Picoseconds now, bool late) {
  const uint64_t place = 2 * instant_ + (late ? 1 : 0);
  if (caught_up_[channel] >= place) return;
  caught_up_[channel] = place;
  const Picoseconds until = late ? now : now - 1;
  if (next_[channel] <= until && now != 0) serve_channel(channel, until);
}

void BankedHbm::begin_to_lag(Picoseconds now) {
  if (!lagging_) due_ = now;
  lagging_ = true;
}

void BankedHbm::serve_lagging(Picoseconds now) {
  if (due_ > now) return;
  Picoseconds next = kNever;
  done_.clear();
  for (uint32_t c = 0; c < next_.size(); ++c) {
    if (next_[c] <= now) {
      channels_[c].advance(now, done_);
      next_[c] = channels_[c].next();
    }
    next = std::min(next, next_[c]);
  }
  complete();
  due_ = next == kNever ? kNever : next + answer_after();
}

/// Commands and requests that wait have to be looked at.
Picoseconds BankedHbm::when_due() const {
  const Picoseconds due = issued_ < submitted_ ? due_ : kNever;
  if (arrivals_.empty()) return due;
  return std::min(due, arrivals_.next() + (may_collect() ? answer_after() : 0));
}

void BankedHbm::wake_when_due() {
  const Picoseconds due = when_due();
  if (due != kNever) wake_at(due + origin_);
}

// Most jobs stream only: their NPUs do not pay for banks.
void BankedHbm::make_channels() {
  channels_.reserve(channels());
  for (uint32_t c = 0; c < channels(); ++c) {
    channels_.emplace_back(spec_, device_->policies);
    channels_.back().block(stream_until_);
  }
  next_.assign(channels(), kNever);
  caught_up_.assign(channels(), 0);
}

void BankedHbm::arrive(Ticket ticket, Picoseconds now) {
  Pending& p = pending_[ticket];
  if (p.access.length >= stream_bytes_) {
    p.to_come = true;
    --streams_to_come_;
    Streams& others = streams_[p.access.client];
    if (lagging_) {
      for (uint32_t c = 0; c < next_.size(); ++c) catch_up(c, now, p.late);
      lagging_ = false;
    }
    const bool short_jump = (streaming_ || streaming_clients_ != 0) && others.end != p.access.address &&
                            p.access.length < kShortUnits * stream_bytes_;
    if (short_jump) ++small_;  // it goes burst by burst
    others.end = p.access.address + p.access.length;
    if (streaming_clients_ == 0) {
      if (!streaming_) {  // what was before it is over, or waits
        small_seen_ = small_;
        stay_ = fed_;
      }
      if (turn_ != p.access.client) turn_bytes_ = 0;
      turn_ = p.access.client;
    }
    if (others.waiting.empty()) ++streaming_clients_;
    others.waiting.push_back(ticket);
    return;
  }
  ++small_;
  if (channels_.empty()) make_channels();
  const uint64_t first = p.access.address / spec_.burst_bytes;
  const uint64_t last = (p.access.address + p.access.length - 1) / spec_.burst_bytes;
  p.bursts = last - first + 1;
  for (uint64_t burst = first; burst <= last; ++burst) submit(ticket, burst, p.access.write, now);
}

void BankedHbm::submit(Ticket ticket, uint64_t burst, bool write, Picoseconds now) {
  const DramAddress a = device_->policies.map->place(burst * spec_.burst_bytes);
  if (lagging_) catch_up(a.channel, now, pending_[ticket].late);
  channels_[a.channel].submit(a.pseudo_channel, {a.row, a.bank, write, ticket}, now);
  next_[a.channel] = now;  // to be asked again
  ++submitted_;
  if (lagging_) due_ = std::min(due_, now + answer_after());
}

void BankedHbm::serve_channel(uint32_t c, Picoseconds now) {
  DramChannel& channel = channels_[c];
  done_.clear();
  channel.advance(now, done_);
  next_[c] = channel.next();
  complete();
  if (!probes_.empty()) {
    probes_[c].queue.set(now + origin_, channel.waiting());
    probes_[c].hits.set(now + origin_, channel.counters().hits);
    if (!done_.empty()) count_bytes(c, done_.size() * spec_.burst_bytes, now);
  }
  if (bytes_probe_ && !done_.empty()) bytes_probe_.set(now + origin_, moved_);
}

/// The bursts in `done_`.
void BankedHbm::complete() {
  issued_ += done_.size();
  moved_ += done_.size() * spec_.burst_bytes;
  for (size_t i = 0; i < done_.size(); ++i) {
    if (i + kFetchAhead < done_.size()) {
      const auto soon = static_cast<Ticket>(done_[i + kFetchAhead].token);
      __builtin_prefetch(&pending_[soon]);
      prefetch(soon);
    }
    const DramChannel::Completion& d = done_[i];
    const auto ticket = static_cast<Ticket>(d.token);
    Pending& p = pending_[ticket];
    p.last = std::max(p.last, d.at);
    burst_until_ = std::max(burst_until_, d.at - (spec_.controller - spec_.controller / 2));
    if (p.access.length >= stream_bytes_) ++fed_issued_;
    if (--p.bursts == 0 && !p.to_come) answer(ticket, p.last);
  }
}

/// For waveforms: a channel has moved so many bytes more by `t`.
void BankedHbm::count_bytes(uint32_t c, uint64_t bytes, Picoseconds t) {
  probes_[c].moved += bytes;
  probes_[c].bytes.set(t + origin_, probes_[c].moved);
}

/// .. what goes by formula, when all of the piece is through: burst by burst as addresses are mapped.
void BankedHbm::count_stream(uint64_t address, uint64_t bytes) {
  std::vector<uint64_t> of_channel(probes_.size());
  while (bytes != 0) {
    const uint64_t part = std::min(bytes, spec_.burst_bytes - address % spec_.burst_bytes);
    of_channel[device_->policies.map->place(address / spec_.burst_bytes * spec_.burst_bytes).channel] += part;
    address += part;
    bytes -= part;
  }
  for (uint32_t c = 0; c < of_channel.size(); ++c)
    if (of_channel[c] != 0) count_bytes(c, of_channel[c], stream_until_);
}

/// The stream at the front goes burst by burst now.
bool BankedHbm::in_detail() const {
  return !shortcut_ || fed_ < stay_ || small_ != small_seen_ || issued_ - fed_issued_ < submitted_ - fed_;
}

// As many bursts as keep the windows full; small accesses queue behind them.
void BankedHbm::feed_stream(Picoseconds now) {
  const uint64_t unit = stream_bytes_ / spec_.burst_bytes;
  if (channels_.empty()) make_channels();
  if (rows_open_) open_next_rows();
  while (streaming_clients_ != 0 && fed_ - fed_issued_ < kFedUnits * unit) {
    if (small_ != small_seen_) stay_ = fed_ + kStayUnits * unit;
    small_seen_ = small_;
    take_turns();
    const Ticket ticket = stream();
    uint64_t& gone = streams().gone;
    Pending& p = pending_[ticket];
    // One direction after the other: a stream that fills the window would hold up the end of the other one.
    if (p.access.write != stream_writes_ && fed_ != fed_issued_) return;
    stream_writes_ = p.access.write;
    const uint64_t burst = (p.access.address + gone) / spec_.burst_bytes;
    submit(ticket, burst, p.access.write, now);
    ++p.bursts;
    ++fed_;
    gone = std::min(p.access.length, (burst + 1) * spec_.burst_bytes - p.access.address);
    turn_bytes_ += spec_.burst_bytes;
    if (gone == p.access.length) end_stream();
  }
}

/// The next stream is that of another initiator, if this one has had its turn.
void BankedHbm::take_turns() {
  if (streaming_clients_ < 2 && !streams().waiting.empty()) return;
  if (turn_bytes_ < kTurnPieces * piece_bytes_ && !streams().waiting.empty()) return;
  do turn_ = (turn_ + 1) % static_cast<uint32_t>(streams_.size());
  while (streams().waiting.empty());
  turn_bytes_ = 0;
}

// After a piece the rows of the next one are open, as they are when a stream goes burst by burst.
void BankedHbm::open_next_rows() {
  rows_open_ = false;
  if (streams().gone == 0) return;
  const Access& access = pending_[stream()].access;
  const uint64_t first = (access.address + streams().gone) / spec_.burst_bytes;
  const uint64_t places = uint64_t{channels()} * spec_.pseudo_channels * spec_.bank_groups;
  for (uint64_t i = 0; i < places; ++i) {
    const DramAddress a = device_->policies.map->place((first + i) * spec_.burst_bytes);
    channels_[a.channel].open(a.pseudo_channel, a.bank, a.row, stream_until_);
  }
}

void BankedHbm::end_stream() {
  Streams& of = streams();
  pending_[of.waiting.front()].to_come = false;
  of.waiting.pop_front();
  of.gone = 0;
  if (of.waiting.empty()) --streaming_clients_;
}

/// When a piece may begin, by its rows, behind one that ended elsewhere or went the other way: their banks
/// may have other rows open.
Picoseconds BankedHbm::rows_ready(uint64_t address, uint64_t bytes, bool write) const {
  if (stream_until_ == 0 || streamed_rows_.empty()) return 0;
  Picoseconds ready = row_ready(address, write);
  const uint64_t first = piece_bytes_ - address % piece_bytes_;  // in the first row
  if (write != stream_writes_ && first < bytes) {
    const auto until_next = static_cast<Picoseconds>(static_cast<double>(first) / stream_rate_);
    const Picoseconds next = row_ready(address + first, write);
    ready = std::max(ready, next - std::min(next, until_next));
  }
  return ready;
}

/// When the row of an address is open in all groups.
Picoseconds BankedHbm::row_ready(uint64_t address, bool write) const {
  const DramAddress a = device_->policies.map->place(address / spec_.burst_bytes * spec_.burst_bytes);
  const StreamedRow& of = streamed_rows_[a.bank % spec_.banks_per_group];
  const bool refreshed = spec_.refi != 0 && of.used / spec_.refi != stream_until_ / spec_.refi;
  if (!refreshed && of.row == a.row) return 0;
  // Requests of the same direction are in the windows before the end of what goes before.
  const auto unit = static_cast<Picoseconds>(static_cast<double>(stream_bytes_) / stream_rate_);
  const bool turns = write != stream_writes_;
  const Picoseconds known = turns ? stream_until_ + spec_.controller / 2 - spec_.ccd_short
                                  : stream_until_ - std::min(stream_until_, 2 * unit);
  Picoseconds open = write ? spec_.rcd_write : spec_.rcd_read;
  // The last group's row, when all are opened at once.
  if (turns) open += (spec_.bank_groups - 1) * (std::max(spec_.rrd_short, spec_.ccd_short) - spec_.ccd_short);
  if (refreshed || of.row == ~uint64_t{0}) return known + open;
  return std::max(known, of.used + (of.written ? spec_.wl + spec_.burst + spec_.wr : spec_.rtp)) + spec_.rp +
         open;
}

void BankedHbm::note_rows(uint64_t address, uint64_t bytes, bool write, Picoseconds start) {
  if (streamed_rows_.empty()) streamed_rows_.resize(spec_.banks_per_group);
  // A piece is as long as a row: it begins in one and ends in it, or in the next one.
  const uint64_t first = std::min(bytes, piece_bytes_ - address % piece_bytes_);
  const auto note = [&](uint64_t at, Picoseconds used) {
    const DramAddress a = device_->policies.map->place(at / spec_.burst_bytes * spec_.burst_bytes);
    streamed_rows_[a.bank % spec_.banks_per_group] = {a.row, used, write};
  };
  note(address, start + static_cast<Picoseconds>(static_cast<double>(stream_until_ - start) *
                                                 static_cast<double>(first) / static_cast<double>(bytes)));
  if (first < bytes) note(address + first, stream_until_);
}

void BankedHbm::begin_piece(Picoseconds now) {
  take_turns();
  const Ticket ticket = stream();
  const Pending& p = pending_[ticket];
  uint64_t& gone = streams().gone;
  // A stream's time is that of its column commands; data follows them.
  Picoseconds start = std::max(now, burst_until_);
  if (gone != 0 && burst_until_ > now)
    start = std::max(now, burst_until_ - (p.access.write ? spec_.wl : spec_.rl));
  if (p.access.write != stream_writes_ && stream_until_ != 0) {
    const Picoseconds turn = p.access.write ? spec_.rtw : spec_.wl + spec_.burst + spec_.wtr_long;
    start = std::max(start, later(stream_until_, turn - spec_.ccd_short + spec_.controller / 2));
  }
  const uint64_t bytes = std::min(piece_bytes_, p.access.length - gone);
  const uint64_t stream_address = p.access.address + gone;
  if (stream_address != stream_end_ || p.access.write != stream_writes_)
    start = std::max(start, rows_ready(stream_address, bytes, p.access.write));
  stream_writes_ = p.access.write;
  stream_end_ = stream_address + bytes;
  // Each piece from the request's first byte, so that rounding does not add up.
  const auto time_of = [&](uint64_t n) {
    return static_cast<Picoseconds>(std::ceil(static_cast<double>(n) / stream_rate_));
  };
  const Picoseconds time = time_of(gone + bytes) - time_of(gone);
  stream_until_ = later(start, time);
  stream_time_ += time;
  streaming_ = true;
  rows_open_ = true;
  note_rows(stream_address, bytes, p.access.write, start);
  for (DramChannel& channel : channels_) channel.block(stream_until_);
  for (uint32_t c = 0; c < next_.size(); ++c) {
    if (next_[c] != kNever) next_[c] = stream_until_;
  }
  gone += bytes;
  turn_bytes_ += bytes;
  moved_ += bytes;
  if (!probes_.empty()) count_stream(stream_address, bytes);
  if (bytes_probe_) bytes_probe_.set(stream_until_ + origin_, moved_);
  if (gone < p.access.length) return;
  // Behind the last byte: the way of any read through controller, bank and pins; a write ends at the pins.
  const Picoseconds way =
      spec_.controller + (p.access.write ? spec_.rcd_write + spec_.wl : spec_.rcd_read + spec_.rl);
  answer(ticket, std::max(p.last, stream_until_ + way));
  end_stream();
}

}  // namespace weft
