// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/memory_dma.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace weft {
namespace {

/// What timing-only requests point at: as long as the longest of them, so that a target that does move data
/// may.
unsigned char* scratch(uint64_t bytes) {
  static std::vector<unsigned char> buffer;
  if (buffer.size() < bytes) buffer.resize(bytes);
  return buffer.data();
}

}  // namespace

MemoryDma::MemoryDma(const char* socket_name, uint32_t outstanding, uint64_t capacity, Done done,
                     Describe describe)
    : socket(socket_name),
      outstanding_limit_(std::max(1u, outstanding)),
      capacity_(capacity),
      done_(std::move(done)),
      describe_(std::move(describe)) {
  socket.bind(*this);
  scratch(kRequest);
}

MemoryDma::~MemoryDma() = default;

void MemoryDma::start(uint32_t token, bool store, uint64_t bytes) {
  accesses_.push_back(std::make_unique<Access>(Access{token, store, bytes, bytes, bytes, 0}));
  issue();
}

void MemoryDma::issue() {
  if (issuing_now_) return;  // an answer came back inside nb_transport_fw: the loop below goes on
  issuing_now_ = true;
  while (requesting_ == nullptr && in_flight_ < outstanding_limit_ && issuing_ < accesses_.size()) {
    Access& access = *accesses_[issuing_];
    uint64_t bytes = std::min(access.to_issue, kRequest);
    if (capacity_ != 0) {
      if (address_ >= capacity_) address_ = 0;
      bytes = std::min(bytes, capacity_ - address_);
    }
    if (free_.empty()) {
      pool_.push_back(std::make_unique<Request>(this));
      free_.push_back(pool_.back().get());
    }
    Request& request = *free_.back();
    free_.pop_back();
    ++live_;
    request.access = &access;
    request.acquire();
    request.set_command(access.store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    request.set_address(address_);
    request.set_data_ptr(scratch(bytes));
    request.set_data_length(static_cast<unsigned>(bytes));
    request.set_streaming_width(static_cast<unsigned>(bytes));
    static unsigned char none = TLM_BYTE_DISABLED;
    request.set_byte_enable_ptr(without_bytes_ ? &none : nullptr);
    request.set_byte_enable_length(without_bytes_ ? 1 : 0);
    request.set_dmi_allowed(false);
    request.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    address_ += bytes;
    access.to_issue -= bytes;
    if (access.to_issue == 0) ++issuing_;
    ++in_flight_;
    requesting_ = &request;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    const auto told = [&] {
      return fmt::format("{}: {}: its access of {} B to memory", socket.name(), describe_(access.token),
                         access.bytes);
    };
    const tlm::tlm_sync_enum answer =
        in_time([&] { return socket->nb_transport_fw(request, phase, delay); }, told,
                "check its size, and the bandwidth and latency of the memory");
    const Picoseconds at = in_time([&] { return later(sc_core::sc_time_stamp().value(), delay.value()); },
                                   told, "check its size, and the bandwidth and latency of the memory");
    if (answer == tlm::TLM_COMPLETED) {
      if (requesting_ == &request) requesting_ = nullptr;
      answered(request, at);
    } else if (answer == tlm::TLM_UPDATED) {
      if (requesting_ == &request) requesting_ = nullptr;
      if (phase == tlm::BEGIN_RESP) {
        tlm::tlm_phase end = tlm::END_RESP;
        socket->nb_transport_fw(request, end, delay);
        answered(request, at);
      }
    }
  }
  issuing_now_ = false;
}

tlm::tlm_sync_enum MemoryDma::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  auto& request = static_cast<Request&>(payload);
  if (phase == tlm::END_REQ) {
    if (requesting_ == &request) requesting_ = nullptr;
    issue();
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::BEGIN_RESP) {
    if (requesting_ == &request) requesting_ = nullptr;  // END_REQ was skipped
    answered(request, later(sc_core::sc_time_stamp().value(), delay.value()));
    issue();
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

void MemoryDma::answered(Request& request, Picoseconds at) {
  if (request.is_response_error()) {
    SC_REPORT_ERROR(
        "weft/sc_models/memory_dma",
        (std::string(socket.name()) + ": the memory answered " + request.get_response_string()).c_str());
  }
  Access& access = *request.access;
  access.last = std::max(access.last, at);
  access.to_finish -= request.get_data_length();
  --in_flight_;
  request.release();
  if (access.to_finish != 0) return;
  const uint32_t token = access.token;
  const Picoseconds last = access.last;
  for (size_t i = 0; i < accesses_.size(); ++i) {
    if (accesses_[i].get() != &access) continue;
    accesses_.erase(accesses_.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < issuing_) --issuing_;
    break;
  }
  done_(token, last);
}

void MemoryDma::free(tlm::tlm_generic_payload* payload) {
  auto* request = static_cast<Request*>(payload);
  request->access = nullptr;
  request->reset();
  --live_;
  free_.push_back(request);
}

}  // namespace weft
