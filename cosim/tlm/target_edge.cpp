// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/target_edge.h"

#include <algorithm>

#include "cosim/kernel_time.h"

namespace weft::cosim {

TargetEdge::TargetEdge(sc_core::sc_module_name module_name, uint32_t depth, Begin begin, Debug debug)
    : sc_core::sc_module(module_name),
      socket("socket"),
      depth_(depth),
      begin_(std::move(begin)),
      debug_(std::move(debug)),
      wake_("wake"),
      room_("room") {
  socket.bind(*this);
  SC_HAS_PROCESS(TargetEdge);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

TargetEdge::~TargetEdge() = default;

tlm::tlm_response_status TargetEdge::check(const Payload& payload) {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (payload.get_data_length() == 0 || payload.get_streaming_width() == 0)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

TargetEdge::Ticket TargetEdge::open(Payload& payload, bool blocking) {
  if (free_.empty()) {
    free_.push_back(static_cast<Ticket>(open_.size()));
    open_.emplace_back();
  }
  const Ticket ticket = free_.back();
  free_.pop_back();
  Open& o = open_[ticket];
  o.payload = &payload;
  o.blocking = blocking;
  o.finished = false;
  ++under_way_;
  return ticket;
}

void TargetEdge::begin(Ticket ticket, Picoseconds at) {
  Payload& payload = *open_[ticket].payload;
  ++accesses_;
  payload.set_dmi_allowed(false);
  const tlm::tlm_response_status status = check(payload);
  if (status == tlm::TLM_OK_RESPONSE) {
    begin_(ticket, payload, at);
  } else {
    finish(ticket, status, at);
  }
}

void TargetEdge::close(Ticket ticket) {
  free_.push_back(ticket);
  --under_way_;
  room_.notify(sc_core::SC_ZERO_TIME);
  if (held_ != nullptr) wake_.notify(sc_core::SC_ZERO_TIME);
}

void TargetEdge::finish(Ticket ticket, tlm::tlm_response_status status, Picoseconds at) {
  Open& o = open_[ticket];
  o.payload->set_response_status(status);
  if (o.blocking) {
    o.finished = true;
    o.at = at;
    if (o.done) o.done->notify(sc_core::SC_ZERO_TIME);
    return;
  }
  answers_.push(at, sequence_++, o.payload);
  close(ticket);
  wake_at(at);
}

void TargetEdge::b_transport(Payload& payload, sc_core::sc_time& delay) {
  ++outstanding_;
  const Picoseconds at = later(now(), delay.value());
  while (full()) sc_core::wait(room_);
  const Ticket ticket = open(payload, true);
  begin(ticket, std::max(at, now()));
  Open& o = open_[ticket];
  while (!o.finished) {  // the event may still tell of the ticket's last access
    if (!o.done) o.done = std::make_unique<sc_core::sc_event>();
    sc_core::wait(*o.done);
  }
  delay = sc_core::sc_time::from_value(std::max(o.at, at) - std::min(now(), std::max(o.at, at)));
  --outstanding_;
  close(ticket);
}

tlm::tlm_sync_enum TargetEdge::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    payload.acquire();
    ++outstanding_;
    const Picoseconds at = later(now(), delay.value());
    if (full()) {
      held_ = &payload;
      held_at_ = at;
      return tlm::TLM_ACCEPTED;
    }
    begin(open(payload, false), at);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (phase == tlm::END_RESP && &payload == responding_) {
    responding_ = nullptr;
    payload.release();
    if (!waiting_.empty()) wake_.notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

bool TargetEdge::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
  payload.set_dmi_allowed(false);
  dmi.allow_none();
  return false;
}

void TargetEdge::wake_at(Picoseconds at) {
  cosim::wake_at(wake_, at);
}

void TargetEdge::process() {
  if (held_ != nullptr && !full()) {
    Payload& payload = *held_;
    held_ = nullptr;
    const Ticket ticket = open(payload, false);
    tlm::tlm_phase phase = tlm::END_REQ;
    const Picoseconds at = std::max(held_at_, now());
    sc_core::sc_time delay = sc_core::sc_time::from_value(at - now());
    begin(ticket, at);
    socket->nb_transport_bw(payload, phase, delay);
  }
  while (answers_.next() <= now()) waiting_.push_back(answers_.pop().payload);
  respond();
  if (!answers_.empty()) wake_at(answers_.next());
}

void TargetEdge::respond() {
  while (responding_ == nullptr && !waiting_.empty()) {
    Payload* const payload = waiting_.front();
    waiting_.pop_front();
    responding_ = payload;
    --outstanding_;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    const tlm::tlm_sync_enum answer = socket->nb_transport_bw(*payload, phase, delay);
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      responding_ = nullptr;
      payload->release();
    }
  }
}

}  // namespace weft::cosim
