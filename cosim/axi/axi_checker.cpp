// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axi/axi_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/units.h"

namespace weft::cosim {
namespace {

using S = AxiSignal;

constexpr const char* kNames[] = {"AW", "W", "B", "AR", "R"};

}  // namespace

AxiChecker::AxiChecker(const AxiPins& pins)
    : pins_(pins), port_(fmt::format("block {}, pins {}", pins.block(), pins.name())) {
  const auto channel = [&](Channel c, S valid, S ready, S first, S last) {
    Seen& seen = seen_[c];
    seen.valid = valid;
    seen.ready = ready;
    for (auto i = static_cast<size_t>(first); i <= static_cast<size_t>(last); ++i) {
      const auto signal = static_cast<S>(i);
      if (signal == valid || signal == ready || pins.any(signal) == nullptr) continue;
      seen.carried.push_back(signal);
      seen.now.emplace_back(pins.any(signal)->words() + 1);
    }
    seen.then = seen.now;
  };
  channel(aw, S::awvalid, S::awready, S::awid, S::awready);
  channel(w, S::wvalid, S::wready, S::wdata, S::wready);
  channel(b, S::bvalid, S::bready, S::bid, S::bready);
  channel(ar, S::arvalid, S::arready, S::arid, S::arready);
  channel(r, S::rvalid, S::rready, S::rid, S::rready);
}

void AxiChecker::broken(const char* rule, Picoseconds now, const std::string& what) {
  ++violations_;
  const Violation violation{rule, now, fmt::format("{}, at {}: {} ({})", port_, print_time(now), what, rule)};
  if (report_) return report_(violation);
  throw UserError(ExitCode::usage, violation.text + "; mend the block, or its adapter");
}

void AxiChecker::sample(Seen& seen, Picoseconds now, bool reset) {
  const auto c = static_cast<size_t>(&seen - seen_.data());
  const bool valid = pins_.high(seen.valid);
  seen.beat = false;
  if (reset) {
    if (valid) broken("reset", now, fmt::format("{}VALID is high in reset", kNames[c]));
    seen.waits = false;
    return;
  }
  if (seen.waits && !valid)
    broken("withdrawn", now,
           fmt::format("{}VALID, which waits since {}, is withdrawn", kNames[c], print_time(seen.since)));
  if (!valid) {
    seen.waits = false;
    return;
  }
  for (size_t i = 0; i < seen.carried.size(); ++i) pins_.any(seen.carried[i])->read(seen.now[i].data());
  if (seen.waits)
    for (size_t i = 0; i < seen.carried.size(); ++i)
      if (seen.now[i] != seen.then[i])
        broken("changed", now,
               fmt::format("{} changes while {}VALID waits since {}", to_string(seen.carried[i]), kNames[c],
                           print_time(seen.since)));
  seen.then = seen.now;
  seen.beat = pins_.high(seen.ready);
  if (!seen.waits) seen.since = now;
  seen.waits = !seen.beat;
}

uint64_t AxiChecker::beat_address(const Burst& burst, uint32_t beat) const {
  if (burst.type == 0 || beat == 0) return burst.address;
  const uint64_t step = uint64_t{1} << burst.size;
  const uint64_t next = burst.address / step * step + beat * step;
  if (burst.type != 2) return next;
  const uint64_t whole = step * burst.beats;
  return burst.address / whole * whole + (next - burst.address / whole * whole) % whole;
}

AxiChecker::Burst AxiChecker::request(bool write, Picoseconds now) {
  Burst burst;
  const char* const name = write ? "AW" : "AR";
  const S length = write ? S::awlen : S::arlen;
  const S size = write ? S::awsize : S::arsize;
  const S type = write ? S::awburst : S::arburst;
  uint32_t full = 0;
  while (uint32_t{1} << (full + 1) <= pins_.bytes()) ++full;
  burst.id = pins_.value(write ? S::awid : S::arid);
  burst.address = pins_.value(write ? S::awaddr : S::araddr);
  burst.beats = static_cast<uint32_t>(pins_.value(length)) + 1;
  burst.size = pins_.any(size) != nullptr ? static_cast<uint32_t>(pins_.value(size)) : full;
  burst.type = pins_.any(type) != nullptr ? static_cast<uint32_t>(pins_.value(type)) : 1;
  burst.exclusive = pins_.high(write ? S::awlock : S::arlock);
  ++bursts_;
  const uint64_t step = uint64_t{1} << burst.size;
  if (burst.size > full)
    broken("size", now, fmt::format("{}: beats of {} B, and the data has {}", name, step, pins_.bytes()));
  if (burst.type == 3) broken("burst", now, fmt::format("{}: burst type 3 is reserved", name));
  if (burst.type == 0 && burst.beats > 16)
    broken("burst", now, fmt::format("{}: a FIXED burst of {} beats", name, burst.beats));
  const bool two = burst.beats == 2 || burst.beats == 4 || burst.beats == 8 || burst.beats == 16;
  if (burst.type == 2 && (!two || burst.address % step != 0))
    broken("burst", now,
           fmt::format("{}: a WRAP burst of {} beats from 0x{:x}", name, burst.beats, burst.address));
  const uint64_t last = burst.address / step * step + (burst.type == 1 ? burst.beats * step : step) - 1;
  if (burst.type == 1 && last / 4096 != burst.address / 4096)
    broken("boundary", now,
           fmt::format("{}: a burst of {} beats of {} B from 0x{:x} crosses a multiple of 4 KiB", name,
                       burst.beats, step, burst.address));
  return burst;
}

void AxiChecker::write_beats(Picoseconds now) {
  if (seen_[w].beat) {
    Beat beat;
    beat.last = pins_.any(S::wlast) == nullptr || pins_.high(S::wlast);
    if (const Pin* strobes = pins_.any(S::wstrb)) {
      beat.strobes.resize(strobes->words() + 1);
      strobes->read(beat.strobes.data());
    }
    early_.push_back(std::move(beat));
  }
  while (!early_.empty() && !writes_.empty()) {
    const Beat beat = std::move(early_.front());
    early_.pop_front();
    Burst& burst = writes_.front();
    const uint64_t step = uint64_t{1} << burst.size;
    const uint64_t address = beat_address(burst, burst.done);
    const uint64_t first = address % pins_.bytes();
    const uint64_t end = address / step * step % pins_.bytes() + step;
    for (uint32_t i = 0; i < pins_.bytes() && !beat.strobes.empty(); ++i)
      if ((beat.strobes[i / 32] >> i % 32 & 1) != 0 && (i < first || i >= end)) {
        broken("strobe", now,
               fmt::format("WSTRB has byte {}, which is none of the beat at 0x{:x}", i, address));
        break;
      }
    const bool last = ++burst.done == burst.beats;
    if (beat.last != last)
      broken(
          "wlast", now,
          fmt::format("WLAST is {} on beat {} of {}", beat.last ? "high" : "low", burst.done, burst.beats));
    if (!last) continue;
    owed_b_[burst.id].push_back(burst);
    writes_.pop_front();
  }
}

void AxiChecker::responses(Picoseconds now) {
  if (seen_[b].beat) {
    const uint64_t id = pins_.value(S::bid);
    auto& owed = owed_b_[id];
    const bool coming =
        std::any_of(writes_.begin(), writes_.end(), [&](const Burst& x) { return x.id == id; });
    if (owed.empty()) {
      if (coming)
        broken("b_early", now, fmt::format("BID {} comes before the last beat of its burst", id));
      else
        broken("b_unknown", now, fmt::format("BID {} is that of no request", id));
    } else {
      if (pins_.value(S::bresp) == 1 && !owed.front().exclusive)
        broken("exokay", now, "BRESP is EXOKAY for an access that is not exclusive");
      owed.pop_front();
    }
  }
  if (!seen_[r].beat) return;
  const uint64_t id = pins_.value(S::rid);
  auto& owed = owed_r_[id];
  if (owed.empty()) return broken("r_unknown", now, fmt::format("RID {} is that of no request", id));
  Burst& burst = owed.front();
  if (pins_.value(S::rresp) == 1 && !burst.exclusive)
    broken("exokay", now, "RRESP is EXOKAY for an access that is not exclusive");
  const bool last = ++burst.done == burst.beats;
  if (pins_.any(S::rlast) != nullptr && pins_.high(S::rlast) != last)
    broken("rlast", now,
           fmt::format("RLAST is {} on beat {} of {}", last ? "low" : "high", burst.done, burst.beats));
  if (last) owed.pop_front();
}

void AxiChecker::edge(Picoseconds now, bool reset) {
  for (Seen& channel : seen_) sample(channel, now, reset);
  if (reset) return;
  // Responses belong to what was taken at earlier edges.
  responses(now);
  if (seen_[aw].beat) writes_.push_back(request(true, now));
  if (seen_[ar].beat) {
    const Burst burst = request(false, now);
    owed_r_[burst.id].push_back(burst);
  }
  write_beats(now);
}

std::string AxiChecker::stall_text() const {
  std::string text;
  for (size_t c = 0; c < kChannels; ++c)
    if (seen_[c].waits)
      text += fmt::format("{}{}: {}VALID waits for {}READY since {}", text.empty() ? "" : "; ", port_,
                          kNames[c], kNames[c], print_time(seen_[c].since));
  size_t writes = writes_.size();
  size_t reads = 0;
  for (const auto& [id, owed] : owed_b_) writes += owed.size();
  for (const auto& [id, owed] : owed_r_) reads += owed.size();
  if (writes + reads != 0)
    text += fmt::format("{}{}: {} writes and {} reads have no response", text.empty() ? "" : "; ", port_,
                        writes, reads);
  return text;
}

void AxiChecker::finish(Picoseconds now) {
  for (size_t c = 0; c < kChannels; ++c)
    if (seen_[c].waits)
      broken("stuck", now,
             fmt::format("{}VALID waits for {}READY since {}", kNames[c], kNames[c],
                         print_time(seen_[c].since)));
  if (!writes_.empty() || !early_.empty()) broken("open", now, "a burst of a write is not complete");
  for (const auto& [id, owed] : owed_b_)
    if (!owed.empty())
      broken("open", now, fmt::format("{} writes of id {} have no response", owed.size(), id));
  for (const auto& [id, owed] : owed_r_)
    if (!owed.empty())
      broken("open", now, fmt::format("{} reads of id {} have no response", owed.size(), id));
}

}  // namespace weft::cosim
