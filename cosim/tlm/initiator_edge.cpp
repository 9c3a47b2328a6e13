// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/initiator_edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cosim/kernel_time.h"
#include "cosim/tlm/socket_names.h"

namespace weft::cosim {

class InitiatorEdge::Worker final : public sc_core::sc_module {
 public:
  Worker(sc_core::sc_module_name worker_name, InitiatorEdge& edge)
      : sc_core::sc_module(worker_name), edge_(edge) {
    SC_HAS_PROCESS(Worker);
    SC_THREAD(run);
  }

 private:
  void run() {
    for (;;) {
      while (edge_.queue_.empty()) sc_core::wait(edge_.work_);
      Waiting next = std::move(edge_.queue_.front());
      edge_.queue_.pop_front();
      ++edge_.in_flight_;
      const Picoseconds ahead = next.at - std::min(next.at, now());
      PayloadPool::Payload& payload = edge_.fill(std::move(next.access));
      sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
      edge_.socket->b_transport(payload, delay);
      edge_.answered(payload, later(now(), delay.value()));
      // The target's time has passed before its next access of this thread.
      sc_core::wait(delay);
    }
  }

  InitiatorEdge& edge_;
};

InitiatorEdge::InitiatorEdge(sc_core::sc_module_name module_name, bool blocking, uint32_t outstanding)
    : sc_core::sc_module(module_name),
      socket("socket"),
      blocking_(blocking),
      outstanding_(std::max(1u, outstanding)),
      work_("work") {
  socket.bind(*this);
  for (uint32_t i = 0; blocking_ && i < outstanding_; ++i)
    workers_.push_back(std::make_unique<Worker>(("worker" + std::to_string(i)).c_str(), *this));
}

InitiatorEdge::~InitiatorEdge() = default;

InitiatorEdge::Access InitiatorEdge::access_of(Payload& payload) {
  Access access;
  access.write = payload.is_write();
  access.address = payload.get_address();
  access.data = payload.get_data_ptr();
  access.length = payload.get_data_length();
  access.width = payload.get_streaming_width();
  access.enables = payload.get_byte_enable_ptr();
  access.enable_length = access.enables != nullptr ? payload.get_byte_enable_length() : 0;
  access.origin = &payload;
  return access;
}

InitiatorEdge::Access InitiatorEdge::part_of(Payload& payload, const AccessPiece& piece,
                                             unsigned char* enables) {
  Access access = access_of(payload);
  access.address = piece.address;
  access.data += piece.offset;
  access.length = piece.length;
  access.width = piece.width;
  access.enables = enables;
  access.enable_length = enables == nullptr ? 0 : piece.length;
  return access;
}

void InitiatorEdge::start(Access access, Picoseconds at) {
  queue_.push_back({std::move(access), at});
  if (blocking_) {
    work_.notify(sc_core::SC_ZERO_TIME);
  } else {
    issue();
  }
}

PayloadPool::Payload& InitiatorEdge::fill(Access access) {
  PayloadPool::Payload& payload = pool_.take();
  payload.set_command(access.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(access.address);
  payload.set_data_ptr(access.data);
  payload.set_data_length(access.length);
  payload.set_streaming_width(access.width);
  payload.set_byte_enable_ptr(access.enables);
  payload.set_byte_enable_length(access.enable_length);
  payload.resize_extensions();  // there may be more kinds now
  for (unsigned i = 0; access.origin != nullptr && i < tlm::max_num_extensions(); ++i)
    payload.set_extension(i, access.origin->get_extension(i));
  if (free_.empty()) {
    free_.push_back(sent_.size());
    sent_.emplace_back();
  }
  payload.owner = this;
  payload.tag = free_.back();
  free_.pop_back();
  sent_[payload.tag] = std::move(access);
  return payload;
}

void InitiatorEdge::issue() {
  if (issuing_) return;  // an answer came back inside nb_transport_fw: the loop below goes on
  issuing_ = true;
  while (requesting_ == nullptr && in_flight_ < outstanding_ && !queue_.empty()) {
    Waiting next = std::move(queue_.front());
    queue_.pop_front();
    send(std::move(next));
  }
  issuing_ = false;
}

void InitiatorEdge::send(Waiting next) {
  const Picoseconds ahead = next.at - std::min(next.at, now());
  PayloadPool::Payload& payload = fill(std::move(next.access));
  ++in_flight_;
  requesting_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
  payload.acquire();  // it may be answered inside the call
  const tlm::tlm_sync_enum answer = socket->nb_transport_fw(payload, phase, delay);
  const bool request_over =
      answer == tlm::TLM_COMPLETED ||
      (answer == tlm::TLM_UPDATED && (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP));
  if (request_over && requesting_ == &payload) requesting_ = nullptr;
  if (answer == tlm::TLM_COMPLETED) {
    answered(payload, later(now(), delay.value()));
  } else if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
    const Picoseconds at = later(now(), delay.value());
    phase = tlm::END_RESP;
    socket->nb_transport_fw(payload, phase, delay);
    answered(payload, at);
  }
  payload.release();
}

tlm::tlm_sync_enum InitiatorEdge::nb_transport_bw(Payload& base, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  auto& payload = static_cast<PayloadPool::Payload&>(base);
  if (requesting_ == &payload) requesting_ = nullptr;  // END_REQ, or it was skipped
  if (phase == tlm::END_REQ) {
    issue();
    return tlm::TLM_ACCEPTED;
  }
  answered(payload, later(now(), delay.value()));
  issue();
  return tlm::TLM_COMPLETED;
}

void InitiatorEdge::answered(PayloadPool::Payload& payload, Picoseconds at) {
  if (payload.owner != this) {  // the pool has it already, or the target still holds a reference
    const std::string target = name_of_target(socket);
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: {} answers an access a second time; mend it: a request has one BEGIN_RESP, or "
                    "one TLM_COMPLETED (IEEE 1666-2011, 15.2). A BaseProtocolChecker before it shows "
                    "all phases",
                    name(), target.empty() ? "the target" : "the target " + target));
  }
  payload.owner = nullptr;
  const uint64_t tag = payload.tag;
  const Access access = std::move(sent_[tag]);
  sent_[tag] = {};
  free_.push_back(tag);
  --in_flight_;
  tlm::tlm_response_status status = payload.get_response_status();
  if (status == tlm::TLM_INCOMPLETE_RESPONSE) status = tlm::TLM_GENERIC_ERROR_RESPONSE;
  for (unsigned i = 0; i < tlm::max_num_extensions(); ++i) {
    tlm::tlm_extension_base* const extension = payload.get_extension(i);
    if (extension == nullptr) continue;
    // One that was added behind goes back with the access.
    if (access.origin != nullptr && access.origin->get_extension(i) == nullptr)
      access.origin->set_extension(i, extension);
    payload.set_extension(i, nullptr);
  }
  payload.release();
  access.done(status, at);
}

}  // namespace weft::cosim
