// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/memory_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "configs/stop.h"

namespace weft {
namespace {

/// `given`: there has been an access with this ticket.
[[noreturn]] void refuse_finish(const char* memory, uint32_t ticket, bool given) {
  throw UserError(
      ExitCode::internal,
      fmt::format("{}: fault of the memory's model: it calls finish() for ticket {}, {}; call it "
                  "once for each ticket of begin()",
                  memory, ticket,
                  given ? "whose access is finished already" : "of which there has been no access"));
}

}  // namespace

MemoryTarget::MemoryTarget(sc_core::sc_module_name module_name, uint64_t capacity, uint32_t sockets,
                           vcd::ProbeHub* probes)
    : sc_core::sc_module(module_name), capacity_(capacity), wake_("wake") {
  for (uint32_t i = 0; i < sockets; ++i) {
    clients_.push_back(std::make_unique<Client>());
    clients_.back()->memory = this;
    clients_.back()->number = i;
    clients_.back()->socket =
        std::make_unique<tlm::tlm_target_socket<32>>(("port" + std::to_string(i)).c_str());
    clients_.back()->socket->bind(*clients_.back());
  }
  if (probes != nullptr && probes->on()) {
    queue_probe_ = probes->number(std::string(name()) + ".queue", 16);
    bytes_probe_ = probes->number(std::string(name()) + ".bytes", 64);
  }
  SC_HAS_PROCESS(MemoryTarget);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

MemoryTarget::~MemoryTarget() = default;

void MemoryTarget::keep_bytes() {
  if (store_ == nullptr) store_ = std::make_unique<ByteStore>();
}

tlm::tlm_response_status MemoryTarget::status_of(const tlm::tlm_generic_payload& payload) const {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (payload.get_data_length() == 0 || payload.get_streaming_width() == 0)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  const uint64_t length = std::min(payload.get_data_length(), payload.get_streaming_width());
  const uint64_t end = capacity_ != 0 ? capacity_ : ~uint64_t{0};
  if (payload.get_address() >= end || length > end - payload.get_address())
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (store_ != nullptr && payload.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

bool MemoryTarget::take(tlm::tlm_generic_payload& payload) {
  payload.set_dmi_allowed(false);
  payload.set_response_status(status_of(payload));
  if (!payload.is_response_ok()) return false;
  if (store_ != nullptr) store_->execute(payload);
  return true;
}

// Command, address, data and length only (11.3); as many bytes as there are before the end of the memory.
unsigned MemoryTarget::Client::transport_dbg(tlm::tlm_generic_payload& payload) {
  ByteStore* const store = memory->store_.get();
  const uint64_t end = memory->capacity_ != 0 ? memory->capacity_ : ~uint64_t{0};
  if (store == nullptr || payload.get_data_ptr() == nullptr || payload.get_address() >= end ||
      payload.get_command() == tlm::TLM_IGNORE_COMMAND)
    return 0;
  const auto bytes =
      static_cast<unsigned>(std::min<uint64_t>(payload.get_data_length(), end - payload.get_address()));
  if (payload.is_write()) {
    store->write(payload.get_address(), payload.get_data_ptr(), bytes);
  } else {
    store->read(payload.get_address(), payload.get_data_ptr(), bytes);
  }
  return bytes;
}

MemoryTarget::Ticket MemoryTarget::open(Client* client, tlm::tlm_generic_payload& payload) {
  if (free_.empty()) {
    free_.push_back(static_cast<Ticket>(open_.size()));
    open_.emplace_back();
  }
  const Ticket ticket = free_.back();
  free_.pop_back();
  Open& o = open_[ticket];
  o.client = client;
  o.payload = &payload;
  o.finished = false;
  return ticket;
}

void MemoryTarget::start(Ticket ticket, const Client& client, Picoseconds at) {
  const tlm::tlm_generic_payload& payload = *open_[ticket].payload;
  const Access access{payload.get_address(), payload.get_data_length(), payload.is_write(), client.number};
  bytes_ += access.length;
  if (observed_) tell_start(ticket, access, at);
  ++requests_;
  begin(ticket, access, at);
}

void MemoryTarget::tell_start(Ticket ticket, const Access& access, Picoseconds at) {
  open_[ticket].number = requests_;
  open_[ticket].socket = access.client;
  if (watch_) watch_(false, requests_, access, at);
  if (causes_ != nullptr) causes_->begins(ticket, access.client, access.write, at);
}

void MemoryTarget::tell_finish(Ticket ticket, Picoseconds at) {
  const Open& o = open_[ticket];
  if (causes_ != nullptr) {
    causes_->finishes(ticket, at, o.payload);
    if (o.client == nullptr) causes_->forget(o.payload);
  }
  if (watch_)
    watch_(true, o.number,
           {o.payload->get_address(), o.payload->get_data_length(), o.payload->is_write(), o.socket}, at);
}

void MemoryTarget::finish(Ticket ticket, Picoseconds at) {
  const bool given = ticket < open_.size();
  if (!given || open_[ticket].payload == nullptr || open_[ticket].finished)
    refuse_finish(name(), ticket, given);
  Open& o = open_[ticket];
  if (observed_) tell_finish(ticket, at);
  if (o.client == nullptr) {
    o.finished = true;
    o.at = at;
    if (o.done != nullptr) o.done->notify(sc_core::SC_ZERO_TIME);
    return;
  }
  __builtin_prefetch(o.payload);  // its initiator looks at it
  answers_.push(at, sequence_++, {o.client, o.payload});
  o.payload = nullptr;
  free_.push_back(ticket);
  wake_at(at);
}

void MemoryTarget::Client::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!memory->take(payload)) return;
  const Ticket ticket = memory->open(nullptr, payload);
  memory->start(ticket, *this, later(sc_core::sc_time_stamp().value(), delay.value()));
  if (!memory->open_[ticket].finished) {
    sc_core::sc_event done((std::string(memory->basename()) + "_done").c_str());
    memory->open_[ticket].done = &done;
    sc_core::wait(done);
    memory->open_[ticket].done = nullptr;
  }
  delay = sc_core::sc_time::from_value(memory->open_[ticket].at - sc_core::sc_time_stamp().value());
  memory->open_[ticket].payload = nullptr;
  memory->free_.push_back(ticket);
}

tlm::tlm_sync_enum MemoryTarget::Client::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                         tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    const Picoseconds at = later(sc_core::sc_time_stamp().value(), delay.value());
    payload.acquire();
    ++memory->outstanding_;
    if (memory->queue_probe_) memory->queue_probe_.set(at, memory->outstanding_);
    if (memory->take(payload)) {
      memory->start(memory->open(this, payload), *this, at);
    } else {
      memory->answers_.push(at, memory->sequence_++, {this, &payload});
      memory->wake_at(at);
    }
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (phase == tlm::END_RESP && &payload == responding) {
    responding = nullptr;
    payload.release();
    if (!waiting.empty()) memory->respond(*this);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;  // phases this target does not know are ignorable
}

bool MemoryTarget::Client::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  payload.set_dmi_allowed(false);
  dmi.allow_none();
  return false;
}

std::string MemoryTarget::stall_text() const {
  if (outstanding_ == 0) return {};
  return fmt::format("  {}: {} accesses have not been answered\n", name(), outstanding_);
}

void MemoryTarget::wake_at(Picoseconds time) {
  if (time >= wake_time_) return;
  wake_time_ = time;
  if (!processing_) wake_.notify(sc_core::sc_time::from_value(time - sc_core::sc_time_stamp().value()));
}

void MemoryTarget::process() {
  if (stop_requested()) sc_core::sc_pause();
  ++activations_;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  wake_time_ = kNever;
  processing_ = true;
  work(now);
  while (answers_.next() <= now) {
    const Answer answer = answers_.pop().payload;
    if (answer.client->responding == nullptr && answer.client->waiting.empty()) {
      respond_with(*answer.client, *answer.payload);
    } else {
      answer.client->waiting.push_back(answer.payload);
      respond(*answer.client);
    }
  }
  processing_ = false;
  const Picoseconds next = std::min(wake_time_, answers_.next());
  wake_time_ = kNever;
  if (next != kNever) wake_at(next);
}

void MemoryTarget::respond(Client& client) {
  while (client.responding == nullptr && !client.waiting.empty()) {
    respond_with(client, *client.waiting.pop_front());
  }
}

void MemoryTarget::respond_with(Client& client, tlm::tlm_generic_payload& payload) {
  client.responding = &payload;
  if (observed_ && causes_ != nullptr) causes_->answers(&payload);
  --outstanding_;
  if (queue_probe_) queue_probe_.set(sc_core::sc_time_stamp().value(), outstanding_);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum answer = (*client.socket)->nb_transport_bw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    client.responding = nullptr;
    payload.release();
  }
}

}  // namespace weft
