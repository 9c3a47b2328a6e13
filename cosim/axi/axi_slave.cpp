// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axi/axi_slave.h"

#include <algorithm>

#include "cosim/tlm/access_pieces.h"

namespace weft::cosim {
namespace {

using S = AxiSignal;

enum Direction : uint8_t { kRead, kWrite };
enum BurstType : uint32_t { kFixed, kIncr, kWrap };

AxiPins checked(AxiPins pins) {
  pins.check(false);
  return pins;
}

uint64_t response_of(tlm::tlm_response_status status) {
  return status == tlm::TLM_OK_RESPONSE ? 0 : status == tlm::TLM_ADDRESS_ERROR_RESPONSE ? 3 : 2;
}

}  // namespace

AxiSlave::AxiSlave(sc_core::sc_module_name module_name, BlockClock& clock, AxiPins pins,
                   const Options& options)
    : sc_core::sc_module(module_name),
      clock_(clock),
      pins_(checked(std::move(pins))),
      options_(options),
      checker_(pins_),
      out_("out", options.blocking, 2 * options.outstanding),
      words_(pins_.any(S::rdata)->words() + 1) {
  clock_.add(*this);
}

AxiSlave::~AxiSlave() = default;

bool AxiSlave::quiet() const {
  if (pins_.high(S::awvalid) || pins_.high(S::wvalid) || pins_.high(S::arvalid)) return false;
  return under_way_[kRead] == 0 && under_way_[kWrite] == 0 && !answering_ && beats_.empty();
}

void AxiSlave::edge(Picoseconds now, bool reset) {
  checker_.edge(now, reset);
  if (reset) {
    for (const S signal : {S::awready, S::wready, S::arready, S::bvalid, S::rvalid}) pins_.drive(signal, 0);
    return;
  }
  take(now);
  show(now);
}

std::unique_ptr<AxiSlave::Burst> AxiSlave::request(bool write) const {
  auto burst = std::make_unique<Burst>();
  burst->id = pins_.value(write ? S::awid : S::arid);
  burst->address = pins_.value(write ? S::awaddr : S::araddr);
  burst->beats = static_cast<uint32_t>(pins_.value(write ? S::awlen : S::arlen)) + 1;
  const S size = write ? S::awsize : S::arsize;
  // A size above the bus breaks a rule, which the checker tells; a beat has no more than the bus.
  burst->size = pins_.any(size) != nullptr
                    ? static_cast<uint32_t>(std::min<uint64_t>(
                          uint64_t{1} << std::min<uint64_t>(pins_.value(size), 16), pins_.bytes()))
                    : pins_.bytes();
  const S type = write ? S::awburst : S::arburst;
  burst->type = pins_.any(type) != nullptr ? static_cast<uint32_t>(pins_.value(type)) : kIncr;
  // The first beat of an address that is not aligned has fewer bytes.
  const auto off = static_cast<uint32_t>(burst->address % burst->size);
  burst->data.resize(burst->type == kFixed ? size_t{burst->beats} * (burst->size - off)
                                           : size_t{burst->beats} * burst->size - off);
  if (write) burst->enables.assign(burst->data.size(), TLM_BYTE_DISABLED);
  return burst;
}

AxiSlave::Lanes AxiSlave::lanes(const Burst& burst, uint32_t beat) const {
  const auto off = static_cast<uint32_t>(burst.address % burst.size);
  const uint32_t bytes = pins_.bytes();
  if (burst.type == kFixed)
    return {beat * (burst.size - off), static_cast<uint32_t>(burst.address % bytes), burst.size - off};
  if (beat == 0) return {0, static_cast<uint32_t>(burst.address % bytes), burst.size - off};
  const uint32_t offset = beat * burst.size - off;
  uint64_t address = burst.address + offset;
  if (burst.type == kWrap) {
    const uint64_t whole = uint64_t{burst.size} * burst.beats;
    address = burst.address / whole * whole + address % whole;
  }
  return {offset, static_cast<uint32_t>(address % bytes), burst.size};
}

void AxiSlave::take_beat(Burst& burst) {
  const Beat& beat = beats_.front();
  const Lanes at = lanes(burst, burst.beat);
  for (uint32_t i = 0; i < at.bytes; ++i) {
    const uint32_t lane = at.lane + i;
    burst.data[at.offset + i] = static_cast<unsigned char>(beat.words[lane / 4] >> 8 * (lane % 4));
    if (beat.strobes.empty() || (beat.strobes[lane / 32] >> lane % 32 & 1) != 0)
      burst.enables[at.offset + i] = TLM_BYTE_ENABLED;
  }
  ++burst.beat;
  beats_.pop_front();
}

void AxiSlave::take(Picoseconds now) {
  if (answering_ && pins_.high(S::bready)) {
    answering_ = false;
    clock_.progress();
  }
  if (reading_ != nullptr && pins_.high(S::rready)) {
    clock_.progress();
    if (++reading_->beat == reading_->beats) {
      Queue& queue = reads_[reading_->id];
      queue.pop_front();
      --under_way_[kRead];
      reading_ = nullptr;
    }
  }
  if (pins_.high(S::awvalid) && pins_.high(S::awready)) {
    filling_.push_back(request(true));
    ++under_way_[kWrite];
    clock_.progress();
  }
  if (pins_.high(S::wvalid) && pins_.high(S::wready)) {
    Beat beat;
    beat.words.resize(pins_.any(S::wdata)->words() + 1);
    pins_.any(S::wdata)->read(beat.words.data());
    if (const Pin* strobes = pins_.any(S::wstrb)) {
      beat.strobes.resize(strobes->words() + 1);
      strobes->read(beat.strobes.data());
    }
    beats_.push_back(std::move(beat));
    clock_.progress();
  }
  while (!filling_.empty() && !beats_.empty()) {
    Burst& burst = *filling_.front();
    take_beat(burst);
    if (burst.beat < burst.beats) continue;
    writes_[burst.id].push_back(std::move(filling_.front()));
    filling_.pop_front();
    start(burst, true, now);
  }
  if (pins_.high(S::arvalid) && pins_.high(S::arready)) {
    std::unique_ptr<Burst> burst = request(false);
    ++under_way_[kRead];
    clock_.progress();
    Burst& started = *burst;
    reads_[burst->id].push_back(std::move(burst));
    start(started, false, now);
  }
}

/// One access; of a WRAP burst that does not begin at its boundary two.
void AxiSlave::start(Burst& burst, bool write, Picoseconds now) {
  const auto length = static_cast<uint32_t>(burst.data.size());
  const uint64_t whole = uint64_t{burst.size} * burst.beats;
  const uint64_t low = burst.address / whole * whole;
  const auto first = burst.type == kWrap ? static_cast<uint32_t>(low + whole - burst.address) : length;
  struct Part {
    uint64_t address;
    uint32_t offset, length;
  };
  std::vector<Part> parts = {{burst.address, 0, std::min(first, length)}};
  if (first < length) parts.push_back({low, first, length - first});
  burst.parts = static_cast<uint32_t>(parts.size());
  const bool all = std::all_of(burst.enables.begin(), burst.enables.end(),
                               [](unsigned char e) { return e == TLM_BYTE_ENABLED; });
  for (const Part& part : parts) {
    InitiatorEdge::Access access;
    access.write = write;
    access.address = part.address;
    access.data = burst.data.data() + part.offset;
    access.length = part.length;
    access.width = burst.type == kFixed ? length / burst.beats : part.length;
    access.enables = !write || all ? nullptr : burst.enables.data() + part.offset;
    access.enable_length = access.enables == nullptr ? 0 : part.length;
    access.done = [this, &burst](tlm::tlm_response_status status, Picoseconds at) {
      burst.status = worst(burst.status, status);
      burst.at = std::max(burst.at, at);
      if (--burst.parts != 0) return;
      burst.complete = true;
      burst.beat = 0;
      clock_.wake(burst.at);
    };
    out_.start(std::move(access), now);
  }
}

/// The first burst of an id that is complete since before this edge.
AxiSlave::Burst* AxiSlave::next(std::map<uint64_t, Queue>& queues, Picoseconds now) {
  Burst* best = nullptr;
  for (auto& [id, queue] : queues) {
    if (queue.empty()) continue;
    Burst* const burst = queue.front().get();
    if (burst->complete && burst->at < now && (best == nullptr || burst->at < best->at)) best = burst;
  }
  return best;
}

void AxiSlave::show(Picoseconds now) {
  if (!answering_) {
    if (Burst* burst = next(writes_, now)) {
      pins_.drive(S::bid, burst->id);
      pins_.drive(S::bresp, response_of(burst->status));
      writes_[burst->id].pop_front();
      --under_way_[kWrite];
      answering_ = true;
    }
    pins_.drive(S::bvalid, answering_ ? 1 : 0);
  }
  show_read(now);
  pins_.drive(S::awready, under_way_[kWrite] < options_.outstanding ? 1 : 0);
  pins_.drive(S::wready, beats_.size() < 2 ? 1 : 0);
  pins_.drive(S::arready, under_way_[kRead] < options_.outstanding ? 1 : 0);
}

void AxiSlave::show_read(Picoseconds now) {
  if (reading_ == nullptr) reading_ = next(reads_, now);
  pins_.drive(S::rvalid, reading_ != nullptr ? 1 : 0);
  if (reading_ == nullptr) return;
  const Burst& burst = *reading_;
  const Lanes at = lanes(burst, burst.beat);
  std::fill(words_.begin(), words_.end(), 0);
  for (uint32_t i = 0; i < at.bytes; ++i) {
    const uint32_t lane = at.lane + i;
    words_[lane / 4] |= uint32_t{burst.data[at.offset + i]} << 8 * (lane % 4);
  }
  pins_.driven(S::rdata)->write(words_.data());
  pins_.drive(S::rid, burst.id);
  pins_.drive(S::rresp, response_of(burst.status));
  pins_.drive(S::rlast, burst.beat + 1 == burst.beats ? 1 : 0);
}

}  // namespace weft::cosim
