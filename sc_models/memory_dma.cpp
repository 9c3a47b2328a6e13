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

void MemoryDma::start(uint32_t token, bool store, uint64_t bytes, uint64_t piece) {
  accesses_.push_back(std::make_unique<Access>());
  Access& access = *accesses_.back();
  access.token = token;
  access.store = store;
  access.to_issue = access.to_finish = access.bytes = bytes;
  access.piece = piece;
  if (causes_ != nullptr && causes_->present() != nullptr) access.part = *causes_->present();
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
    fill(request, access, bytes);
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
    const tlm::tlm_sync_enum answer = in_time(
        [&] {
          return causes_ == nullptr ? socket->nb_transport_fw(request, phase, delay)
                                    : forward(request, phase, delay);
        },
        told, "check its size, and the bandwidth and latency of the memory");
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

void MemoryDma::fill(Request& request, Access& access, uint64_t bytes) {
  request.acquire();
  request.set_command(access.store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  request.set_address(base_ + address_);
  bool carries = !without_bytes_;
  if (tensors_ != nullptr) {
    if (access.to_issue == access.bytes) begin_tensor(access);
    carries = access.tensor != DmaTensors::kNone;
  }
  if (carries && tensors_ != nullptr) {
    request.offset = access.bytes - access.to_issue;
    request.data.resize(bytes);
    if (access.store) tensors_->fill(access.tensor, request.offset, request.data.data(), bytes);
    request.set_data_ptr(request.data.data());
  } else {
    request.set_data_ptr(scratch(bytes));
  }
  request.set_data_length(static_cast<unsigned>(bytes));
  request.set_streaming_width(static_cast<unsigned>(bytes));
  static unsigned char none = TLM_BYTE_DISABLED;
  request.set_byte_enable_ptr(carries ? nullptr : &none);
  request.set_byte_enable_length(carries ? 0 : 1);
  request.set_dmi_allowed(false);
  request.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
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
  if (causes_ != nullptr) {
    const insight::ActivityId id = causes_->take_answer();
    if (at >= access.last && id != insight::kNoActivity) access.part.last = id;
  }
  access.last = std::max(access.last, at);
  if (!request.data.empty() && !access.store) compare(request, access, at);
  access.to_finish -= request.get_data_length();
  --in_flight_;
  request.release();
  if (access.to_finish != 0) return;
  const uint32_t token = access.token;
  const Picoseconds last = access.last;
  const insight::ActivityId by = access.part.last;
  if (access.tensor != DmaTensors::kNone && !access.store) loaded_(access.bytes, access.wrong);
  for (size_t i = 0; i < accesses_.size(); ++i) {
    if (accesses_[i].get() != &access) continue;
    accesses_.take(i);
    if (i < issuing_) --issuing_;
    break;
  }
  if (causes_ != nullptr) causes_->answers(by);
  done_(token, last);
}

tlm::tlm_sync_enum MemoryDma::forward(Request& request, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  insight::AccessPart part = request.access->part;
  const insight::OnBehalf behalf(causes_, &part);
  return socket->nb_transport_fw(request, phase, delay);
}

void MemoryDma::free(tlm::tlm_generic_payload* payload) {
  auto* request = static_cast<Request*>(payload);
  request->access = nullptr;
  request->data = {};
  request->reset();
  --live_;
  free_.push_back(request);
}

// ---- bytes

void MemoryDma::carry_bytes(uint64_t seed, uint64_t owner, Loaded loaded) {
  tensors_ = std::make_unique<DmaTensors>(seed, owner, capacity_);
  loaded_ = std::move(loaded);
}

/// The first request of an access is about to go: all that came before is in the memory.
void MemoryDma::begin_tensor(Access& access) {
  if (capacity_ != 0 && access.bytes > capacity_) return;
  if (pieces_) return begin_piece(access);
  if (access.store) {
    access.tensor = tensors_->store(address_, access.bytes);
    return;
  }
  access.tensor = tensors_->find(access.bytes);
  if (access.tensor != DmaTensors::kNone) {
    move_tensor(access.tensor, address_, access.bytes);
    return;
  }
  access.tensor = tensors_->store(address_, access.bytes);
  tensors_->find(access.bytes);  // this load takes it
  std::vector<unsigned char> data(access.bytes);
  tensors_->fill(access.tensor, 0, data.data(), data.size());
  debug(true, address_, data);
}

void MemoryDma::begin_piece(Access& access) {
  access.tensor = access.piece;
  if (access.piece == DmaTensors::kNone) return;
  if (!access.store && tensors_->has(access.piece)) return move_tensor(access.piece, address_, access.bytes);
  tensors_->store_as(access.piece, address_, access.bytes);
  if (access.store) return;
  // It has been in the memory from the beginning.
  std::vector<unsigned char> data(access.bytes);
  tensors_->fill(access.piece, 0, data.data(), data.size());
  debug(true, address_, data);
}

void MemoryDma::move_tensor(uint64_t tensor, uint64_t to, uint64_t bytes) {
  const uint64_t from = tensors_->address(tensor);
  tensors_->move(tensor, to);
  if (from == to) return;
  std::vector<unsigned char> data(bytes);
  debug(false, from, data);
  std::vector<unsigned char> zeros(bytes);  // which take no room in the memory
  debug(true, from, zeros);
  debug(true, to, data);
}

void MemoryDma::debug(bool write, uint64_t address, std::vector<unsigned char>& data) {
  constexpr uint64_t kMost = 1ull << 30;  // a payload's length has 32 bits
  for (uint64_t done = 0; done < data.size();) {
    uint64_t n = std::min(data.size() - done, kMost);
    if (capacity_ != 0) {
      if (address >= capacity_) address -= capacity_;
      n = std::min(n, capacity_ - address);
    }
    tlm::tlm_generic_payload payload;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(base_ + address);
    payload.set_data_ptr(data.data() + done);
    payload.set_data_length(static_cast<unsigned>(n));
    payload.set_streaming_width(static_cast<unsigned>(n));
    socket->transport_dbg(payload);  // what it does not move is found when it is compared
    done += n;
    address += n;
  }
}

void MemoryDma::compare(const Request& request, Access& access, Picoseconds at) {
  if (!access.wrong.empty()) return;  // the first one is told
  const uint64_t n = request.get_data_length();
  const uint64_t wrong = tensors_->first_wrong(access.tensor, request.offset, request.data.data(), n);
  if (wrong == n) return;
  const uint64_t offset = request.offset + wrong;
  access.wrong = fmt::format(
      "{}: {}: a {} of {} B came back from memory with wrong bytes: byte {}, at address {}, is 0x{:02x} "
      "instead of 0x{:02x}, at {} ps",
      socket.name(), describe_(access.token), pieces_ ? "chunk" : "tensor", access.bytes, offset,
      request.get_address() + wrong, request.data[wrong], tensors_->byte(access.tensor, offset), at);
}

}  // namespace weft
