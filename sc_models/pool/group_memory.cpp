// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/group_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sc_models/memory_model.h"
#include "sc_models/message_time.h"

namespace weft {

GroupMemory::GroupMemory(const Config& config, const ModuleChoices::Chosen& model, bool keeps_bytes,
                         Done done, vcd::ProbeHub* probes)
    : capacity_(config.memory_pool->capacity),
      keeps_bytes_(keeps_bytes),
      done_(std::move(done)),
      socket_("to_memory") {
  const MemoryPoolConfig& pool = *config.memory_pool;
  const MemoryTiming figures{pool.group_rate(), 0, pool.capacity, 1.0};
  target_ = make_memory(model.implementation, model.owner, "memory", {figures, 1, probes});
  if (keeps_bytes_) target_->keep_bytes();
  socket_.bind(*this);
  socket_.bind(target_->socket(0));
}

GroupMemory::~GroupMemory() = default;

void GroupMemory::keep_causes(insight::CausalLog& log) {
  causes_ = &log;
  target_->keep_causes(make_memory_causes(log, target_->name(), "pool group memories"));
}

void GroupMemory::start(uint32_t token, bool write, unsigned char* data, uint64_t bytes) {
  const auto access = std::make_shared<Access>();
  access->token = token;
  access->write = write;
  access->data = data;
  if (capacity_ != 0 && (address_ >= capacity_ || capacity_ - address_ < bytes)) address_ = 0;
  access->address = address_;
  if (causes_ != nullptr && causes_->present() != nullptr) access->part = *causes_->present();
  access->bytes = access->to_issue = access->to_finish = bytes;
  address_ += bytes;
  under_way_ += bytes;
  waiting_.push_back(access);
  issue();
}

void GroupMemory::look(const Request& request, tlm::tlm_command command) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(request.get_address());
  payload.set_data_ptr(request.get_data_ptr());
  payload.set_data_length(request.get_data_length());
  payload.set_streaming_width(request.get_data_length());
  if (socket_->transport_dbg(payload) == request.get_data_length()) return;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: the memory model of `memory.pool.group_memory` has no debug transport of "
                              "{} B at address {}, which `run.data: functional` needs; use another model, or "
                              "`run.data: none`",
                              socket_.name(), request.get_data_length(), request.get_address()));
}

void GroupMemory::issue() {
  if (issuing_) return;  // an answer came back inside nb_transport_fw: the loop below goes on
  issuing_ = true;
  while (requesting_ == nullptr && !waiting_.empty()) {
    const std::shared_ptr<Access> access = waiting_.front();
    const uint64_t done = access->bytes - access->to_issue;
    const uint64_t bytes = std::min(access->to_issue, kRequest);
    if (free_.empty()) {
      requests_.push_back(std::make_unique<Request>(this));
      free_.push_back(requests_.back().get());
    }
    Request& request = *free_.back();
    free_.pop_back();
    request.access = access;
    request.acquire();
    request.set_command(access->write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    request.set_address(access->address + done);
    if (access->data == nullptr && scratch_.size() < bytes) scratch_.resize(bytes);
    request.set_data_ptr(access->data == nullptr ? scratch_.data() : access->data + done);
    request.set_data_length(static_cast<unsigned>(bytes));
    request.set_streaming_width(static_cast<unsigned>(bytes));
    request.set_byte_enable_ptr(nullptr);
    request.set_dmi_allowed(false);
    request.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    access->to_issue -= bytes;
    if (access->to_issue == 0) waiting_.pop_front();
    requesting_ = &request;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    const auto told = [&] { return fmt::format("{}: an access of {} B", socket_.name(), access->bytes); };
    // What is loaded has been in the memory all along.
    if (!access->write && access->data != nullptr) look(request, tlm::TLM_WRITE_COMMAND);
    const auto answer = in_time(
        [&] {
          return causes_ == nullptr ? socket_->nb_transport_fw(request, phase, delay)
                                    : forward(request, phase, delay);
        },
        told, kMessageRemedy);
    const Picoseconds at = later(sc_core::sc_time_stamp().value(), delay.value());
    // What was stored is what is in the memory now, not what was sent there.
    if (access->write && access->data != nullptr) look(request, tlm::TLM_READ_COMMAND);
    if (answer == tlm::TLM_ACCEPTED) continue;
    if (requesting_ == &request) requesting_ = nullptr;
    if (answer == tlm::TLM_UPDATED && phase != tlm::BEGIN_RESP) continue;
    if (answer == tlm::TLM_UPDATED) {
      tlm::tlm_phase end = tlm::END_RESP;
      socket_->nb_transport_fw(request, end, delay);
    }
    answered(request, at);
  }
  issuing_ = false;
}

tlm::tlm_sync_enum GroupMemory::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  auto& request = static_cast<Request&>(payload);
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (requesting_ == &request) requesting_ = nullptr;  // END_REQ may be skipped
  if (phase == tlm::END_REQ) {
    issue();
    return tlm::TLM_ACCEPTED;
  }
  answered(request, later(sc_core::sc_time_stamp().value(), delay.value()));
  issue();
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void GroupMemory::answered(Request& request, Picoseconds at) {
  if (request.is_response_error())
    throw UserError(ExitCode::usage, fmt::format("{}: the memory answered {} to an access of {} B at {}",
                                                 socket_.name(), request.get_response_string(),
                                                 request.get_data_length(), request.get_address()));
  const std::shared_ptr<Access> access = std::move(request.access);
  if (causes_ != nullptr) {
    const insight::ActivityId id = causes_->take_answer();
    if (at >= access->last && id != insight::kNoActivity) access->part.last = id;
  }
  access->last = std::max(access->last, at);
  access->to_finish -= request.get_data_length();
  request.release();
  if (access->to_finish != 0) return;
  under_way_ -= access->bytes;
  if (causes_ != nullptr) causes_->answers(access->part.last);
  done_(access->token, access->last);
}

tlm::tlm_sync_enum GroupMemory::forward(Request& request, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  insight::AccessPart part = request.access->part;
  const insight::OnBehalf behalf(causes_, &part);
  return socket_->nb_transport_fw(request, phase, delay);
}

void GroupMemory::free(tlm::tlm_generic_payload* payload) {
  auto* const request = static_cast<Request*>(payload);
  request->access.reset();
  request->reset();
  free_.push_back(request);
}

}  // namespace weft
