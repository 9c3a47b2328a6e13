// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/hbm.h"

#include <cmath>
#include <string>

namespace weft {

MemoryTiming hbm_timing(const HbmConfig& config) {
  return {config.bandwidth, config.latency, config.capacity, config.efficiency};
}

Hbm::Hbm(sc_core::sc_module_name module_name, const MemoryTiming& timing, uint32_t sockets, vcd::Waves* waves)
    : sc_core::sc_module(module_name), timing_(timing), wake_("wake") {
  if (timing_.efficiency < 1.0) {
    timing_.bandwidth = {static_cast<uint64_t>(std::llround(timing.bandwidth.value() * timing.efficiency)),
                         1};
  }
  for (uint32_t i = 0; i < sockets; ++i) {
    clients_.push_back(std::make_unique<Client>());
    clients_.back()->hbm = this;
    clients_.back()->number = i;
    clients_.back()->socket =
        std::make_unique<tlm::tlm_target_socket<32>>(("port" + std::to_string(i)).c_str());
    clients_.back()->socket->bind(*clients_.back());
  }
  if (waves != nullptr && waves->on()) {
    queue_probe_ = waves->number(std::string(name()) + ".queue", 16);
    bytes_probe_ = waves->number(std::string(name()) + ".bytes", 64);
  }
  SC_HAS_PROCESS(Hbm);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

Hbm::~Hbm() = default;

Picoseconds Hbm::serve(tlm::tlm_generic_payload& payload, Picoseconds at) {
  payload.set_dmi_allowed(false);
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return at;
  }
  if (payload.get_data_length() == 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return at;
  }
  const uint64_t length = payload.get_data_length();
  if (timing_.capacity != 0 &&
      (payload.get_address() >= timing_.capacity || length > timing_.capacity - payload.get_address())) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return at;
  }
  const Picoseconds start = at > free_at_ ? at : free_at_;
  const Picoseconds time = transfer_time(length, timing_.bandwidth);
  free_at_ = start + time;
  busy_ += time;
  bytes_ += length;
  ++requests_;
  if (bytes_probe_) bytes_probe_.set(free_at_, bytes_);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return free_at_ + timing_.latency;
}

void Hbm::Client::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  const Picoseconds done = hbm->serve(payload, now + delay.value());
  delay = sc_core::sc_time::from_value(done - now);
}

tlm::tlm_sync_enum Hbm::Client::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (phase == tlm::BEGIN_REQ) {
    payload.acquire();
    ++hbm->outstanding_;
    if (hbm->queue_probe_) hbm->queue_probe_.set(now + delay.value(), hbm->outstanding_);
    const Picoseconds done = hbm->serve(payload, now + delay.value());
    hbm->answers_.push(done, hbm->sequence_++, {this, &payload});
    hbm->wake_at(done);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (phase == tlm::END_RESP && &payload == responding) {
    responding = nullptr;
    payload.release();
    if (!waiting.empty()) hbm->respond(*this);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;  // phases this target does not know are ignorable
}

bool Hbm::Client::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  payload.set_dmi_allowed(false);
  dmi.allow_none();
  return false;
}

void Hbm::wake_at(Picoseconds time) {
  if (time >= wake_time_) return;
  wake_time_ = time;
  wake_.notify(sc_core::sc_time::from_value(time - sc_core::sc_time_stamp().value()));
}

void Hbm::process() {
  ++activations_;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  wake_time_ = kNever;
  while (answers_.next() <= now) {
    const Answer answer = answers_.pop().payload;
    answer.client->waiting.push_back(answer.payload);
    if (answer.client->responding == nullptr) respond(*answer.client);
  }
  if (!answers_.empty()) wake_at(answers_.next());
}

void Hbm::respond(Client& client) {
  while (client.responding == nullptr && !client.waiting.empty()) {
    tlm::tlm_generic_payload* payload = client.waiting.front();
    client.waiting.pop_front();
    client.responding = payload;
    --outstanding_;
    if (queue_probe_) queue_probe_.set(sc_core::sc_time_stamp().value(), outstanding_);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    const tlm::tlm_sync_enum answer = (*client.socket)->nb_transport_bw(*payload, phase, delay);
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      client.responding = nullptr;
      payload->release();
    }
  }
}

}  // namespace weft
