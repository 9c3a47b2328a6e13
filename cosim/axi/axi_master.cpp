// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axi/axi_master.h"

#include <algorithm>

namespace weft::cosim {
namespace {

using S = AxiSignal;

enum Direction : uint8_t { kRead, kWrite };

AxiPins checked(AxiPins pins) {
  pins.check(true);
  return pins;
}

tlm::tlm_response_status status_of(uint64_t response) {
  return response <= 1   ? tlm::TLM_OK_RESPONSE
         : response == 2 ? tlm::TLM_GENERIC_ERROR_RESPONSE
                         : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

}  // namespace

AxiMaster::AxiMaster(sc_core::sc_module_name module_name, BlockClock& clock, AxiPins pins, Options options)
    : sc_core::sc_module(module_name),
      clock_(clock),
      pins_(checked(std::move(pins))),
      options_(std::move(options)),
      checker_(pins_),
      cut_([this](uint32_t ticket, Payload& payload, const AccessPiece& piece, unsigned char* enables,
                  Picoseconds at) { start(ticket, payload, piece, enables, at); },
           [this](uint32_t ticket, tlm::tlm_response_status status, Picoseconds at) {
             in_.finish(ticket, status, at);
           }),
      in_(
          "in", 0, [this](uint32_t ticket, Payload& payload, Picoseconds at) { begin(ticket, payload, at); },
          [this](Payload& payload) { return options_.debug ? options_.debug(payload) : 0u; }),
      words_(pins_.any(S::wdata)->words() + 1),
      strobes_(words_of(pins_.bytes()) + 1) {
  ids_ = options_.ids == 0 ? pins_.ids() : std::min(options_.ids, pins_.ids());
  if (const Pin* strobes = pins_.any(S::wstrb))
    strobes_.resize(std::max<size_t>(strobes_.size(), strobes->words()));
  for (auto& answers : answers_) answers.resize(ids_);
  clock_.add(*this);
}

AxiMaster::~AxiMaster() = default;

void AxiMaster::begin(uint32_t ticket, Payload& p, Picoseconds at) {
  // From one multiple of 4 KiB to the next, in bursts of 256 beats at most; AXI4-Lite: beat by beat.
  const uint64_t most =
      pins_.bursts() ? std::min<uint64_t>(4096, uint64_t{256} * pins_.bytes()) : pins_.bytes();
  std::vector<AccessPiece> pieces;
  const uint32_t length = p.get_data_length();
  const uint32_t width = std::min(p.get_streaming_width(), length);
  for (uint32_t beat = 0; beat < length; beat += width) {
    const uint32_t end = std::min(length - beat, width) + beat;
    for (uint32_t i = beat; i < end;) {
      const uint64_t address = p.get_address() + (i - beat);
      const uint64_t in_bus = (address + options_.base) % most;
      const auto n = static_cast<uint32_t>(std::min<uint64_t>(most - in_bus, end - i));
      pieces.push_back({address, i, n, i == beat && beat != 0 && p.is_write(), n});
      i += n;
    }
  }
  cut_.begin(ticket, p, std::move(pieces), true, at);
}

void AxiMaster::start(uint32_t ticket, Payload& payload, const AccessPiece& piece, unsigned char* enables,
                      Picoseconds at) {
  Burst burst;
  burst.ticket = ticket;
  burst.payload = &payload;
  burst.piece = piece;
  burst.piece.address += options_.base;
  burst.enables = enables;
  burst.at = at;
  waiting_[payload.is_write() ? kWrite : kRead].push_back(burst);
  clock_.wake(at);
}

uint32_t AxiMaster::beats(const AccessPiece& piece) const {
  const uint32_t bytes = pins_.bytes();
  return static_cast<uint32_t>((piece.address % bytes + piece.length + bytes - 1) / bytes);
}

bool AxiMaster::quiet() const {
  return waiting_[kRead].empty() && waiting_[kWrite].empty() && data_.empty() && under_way_[kRead] == 0 &&
         under_way_[kWrite] == 0;
}

void AxiMaster::edge(Picoseconds now, bool reset) {
  checker_.edge(now, reset);
  if (reset) {
    for (const S signal : {S::awvalid, S::wvalid, S::arvalid, S::bready, S::rready}) pins_.drive(signal, 0);
    requesting_[kRead] = requesting_[kWrite] = beating_ = false;
    return;
  }
  take_responses(now);
  take_requests();
  show(now);
}

void AxiMaster::over(const Burst& burst, Picoseconds now) {
  clock_.progress();
  cut_.piece_over(burst.ticket, burst.status, now);
}

void AxiMaster::take_responses(Picoseconds now) {
  if (pins_.high(S::bvalid) && pins_.high(S::bready)) {
    auto& answers = answers_[kWrite][pins_.value(S::bid) % ids_];
    // One that comes before its data has gone answers nothing; the checker tells.
    const auto same = [&](const Burst& burst) { return burst.number == answers.front().number; };
    if (!answers.empty() && std::none_of(data_.begin(), data_.end(), same)) {
      Burst burst = answers.front();
      answers.pop_front();
      --under_way_[kWrite];
      burst.status = worst(burst.status, status_of(pins_.value(S::bresp)));
      over(burst, now);
    }
  }
  if (!pins_.high(S::rvalid) || !pins_.high(S::rready)) return;
  auto& answers = answers_[kRead][pins_.value(S::rid) % ids_];
  if (answers.empty()) return;
  Burst& burst = answers.front();
  clock_.progress();
  const uint32_t bytes = pins_.bytes();
  pins_.any(S::rdata)->read(words_.data());
  burst.status = worst(burst.status, status_of(pins_.value(S::rresp)));
  // Bytes of the bus that belong to the piece.
  const uint64_t at = burst.piece.address / bytes * bytes + uint64_t{burst.beat} * bytes;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (at + i < burst.piece.address || at + i >= burst.piece.address + burst.piece.length) continue;
    const auto n = static_cast<uint32_t>(at + i - burst.piece.address);
    if (burst.enables != nullptr && burst.enables[n] != TLM_BYTE_ENABLED) continue;
    if (burst.status == tlm::TLM_OK_RESPONSE)
      burst.payload->get_data_ptr()[burst.piece.offset + n] =
          static_cast<unsigned char>(words_[i / 4] >> 8 * (i % 4));
  }
  if (++burst.beat < beats(burst.piece)) return;
  const Burst done = burst;
  answers.pop_front();
  --under_way_[kRead];
  over(done, now);
}

/// What the block has taken at this edge.
void AxiMaster::take_requests() {
  for (const Direction d : {kRead, kWrite}) {
    if (!requesting_[d] || !pins_.high(d == kRead ? S::arready : S::awready)) continue;
    requesting_[d] = false;
    clock_.progress();
  }
  if (beating_ && pins_.high(S::wready)) {
    beating_ = false;
    clock_.progress();
    if (++data_.front().beat == beats(data_.front().piece)) data_.pop_front();
  }
}

void AxiMaster::show(Picoseconds now) {
  uint32_t full = 0;
  while (uint32_t{1} << (full + 1) <= pins_.bytes()) ++full;
  for (const Direction d : {kRead, kWrite}) {
    if (requesting_[d]) continue;
    auto& waiting = waiting_[d];
    const bool next = !waiting.empty() && waiting.front().at < now && under_way_[d] < options_.outstanding;
    if (next) {
      Burst burst = waiting.front();
      waiting.pop_front();
      burst.number = next_id_[d]++;
      burst.id = burst.number % ids_;
      const auto last_of = [d](S read, S write) { return d == kRead ? read : write; };
      pins_.drive(last_of(S::arid, S::awid), burst.id);
      pins_.drive(last_of(S::araddr, S::awaddr), burst.piece.address);
      pins_.drive(last_of(S::arlen, S::awlen), beats(burst.piece) - 1);
      pins_.drive(last_of(S::arsize, S::awsize), full);
      pins_.drive(last_of(S::arburst, S::awburst), 1);
      answers_[d][burst.id].push_back(burst);
      if (d == kWrite) data_.push_back(burst);
      ++under_way_[d];
      requesting_[d] = true;
    } else if (!waiting.empty() && waiting.front().at >= now) {
      clock_.wake(waiting.front().at);
    }
    pins_.drive(d == kRead ? S::arvalid : S::awvalid, next ? 1 : 0);
  }
  if (!beating_) {
    if (!data_.empty()) show_beat(data_.front());
    beating_ = !data_.empty();
    pins_.drive(S::wvalid, beating_ ? 1 : 0);
  }
  pins_.drive(S::bready, 1);
  pins_.drive(S::rready, 1);
}

void AxiMaster::show_beat(const Burst& burst) {
  const uint32_t bytes = pins_.bytes();
  std::fill(words_.begin(), words_.end(), 0);
  std::fill(strobes_.begin(), strobes_.end(), 0);
  const uint64_t at = burst.piece.address / bytes * bytes + uint64_t{burst.beat} * bytes;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (at + i < burst.piece.address || at + i >= burst.piece.address + burst.piece.length) continue;
    const auto n = static_cast<uint32_t>(at + i - burst.piece.address);
    if (burst.enables != nullptr && burst.enables[n] != TLM_BYTE_ENABLED) continue;
    words_[i / 4] |= uint32_t{burst.payload->get_data_ptr()[burst.piece.offset + n]} << 8 * (i % 4);
    strobes_[i / 32] |= 1u << i % 32;
  }
  pins_.driven(S::wdata)->write(words_.data());
  if (DrivenPin* pin = pins_.driven(S::wstrb)) pin->write(strobes_.data());
  pins_.drive(S::wlast, burst.beat + 1 == beats(burst.piece) ? 1 : 0);
}

}  // namespace weft::cosim
