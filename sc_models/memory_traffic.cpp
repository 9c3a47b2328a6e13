// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/memory_traffic.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "configs/stop.h"

namespace weft {
namespace {

/// Blocks that are issued ahead of their time, on average, with the time as delay: that spares events.
constexpr double kAhead = 16;

}  // namespace

MemoryTraffic::MemoryTraffic(sc_core::sc_module_name module_name, const Config& config)
    : sc_core::sc_module(module_name),
      socket("socket"),
      config_(config),
      random_(config.seed),
      wake_("wake"),
      data_(config.pattern.block) {
  socket.bind(*this);
  if (config.rate > 0) mean_gap_ = static_cast<double>(config.pattern.block) / config.rate;
  latencies_.reserve(config.blocks);
  SC_HAS_PROCESS(MemoryTraffic);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

MemoryTraffic::~MemoryTraffic() = default;

void MemoryTraffic::start(Picoseconds at) {
  begin_ = at;
  wake_.notify(sc_core::sc_time::from_value(at - sc_core::sc_time_stamp().value()));
}

void MemoryTraffic::process() {
  if (stop_requested()) sc_core::sc_pause();
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (config_.rate == 0) {
    issue_all(now);
    return;
  }
  const double until = static_cast<double>(now - begin_) + kAhead * mean_gap_;
  while (requesting_ == nullptr && issued_ < config_.blocks && due_ <= until) {
    issue(std::max(now, later(begin_, static_cast<Picoseconds>(due_))), now);
    due_ += gap();
  }
  if (requesting_ != nullptr || issued_ == config_.blocks) return;
  wake_.notify(sc_core::sc_time::from_value(later(begin_, static_cast<Picoseconds>(due_)) - now));
}

/// As fast as possible.
void MemoryTraffic::issue_all(Picoseconds now) {
  issuing_ = true;
  while (requesting_ == nullptr && issued_ < config_.blocks && issued_ - answered_ < config_.outstanding)
    issue(now, now);
  issuing_ = false;
}

void MemoryTraffic::next_block(uint64_t& address, bool& write) {
  const MemoryPattern& p = config_.pattern;
  if (p.run != 0) {
    const auto writes = static_cast<uint64_t>(
        std::max(1.0, std::round(static_cast<double>(p.run) * (1 - p.reads) / std::max(p.reads, 1e-9))));
    write = p.reads <= 0 || (p.reads < 1 && issued_ % (p.run + writes) >= p.run);
  } else if (p.random) {
    write = uniform_(random_) >= p.reads;
  } else {
    // The nearest whole number of writes among the blocks so far.
    const auto whole = [&](uint64_t n) {
      return static_cast<uint64_t>(static_cast<double>(n) * (1 - p.reads) + 1e-6);
    };
    write = whole(issued_ + 1) > whole(issued_);
  }
  if (p.random) {
    address = random_() % (p.range / p.block) * p.block;
    return;
  }
  // Reads and writes are streams of their own, or one stream whose direction changes.
  const bool two = p.run == 0 && p.reads > 0 && p.reads < 1;
  const uint64_t room = two ? p.range / 2 : p.range;
  const uint64_t steps = std::max<uint64_t>(1, (room - std::min(room, p.block)) / p.stride + 1);
  const uint64_t i = !two ? issued_ : write ? writes_++ : reads_++;
  address = (two && write ? room / p.block * p.block : 0) + i % steps * p.stride;
}

void MemoryTraffic::issue(Picoseconds created, Picoseconds now) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Request>(this));
    free_.push_back(pool_.back().get());
  }
  Request& request = *free_.back();
  free_.pop_back();
  uint64_t address = 0;
  bool write = false;
  next_block(address, write);
  ++issued_;
  const auto bytes = static_cast<unsigned>(config_.pattern.block);
  request.created = created;
  request.acquire();
  request.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  request.set_address(address);
  request.set_data_ptr(data_.data());
  request.set_data_length(bytes);
  request.set_streaming_width(bytes);
  request.set_byte_enable_ptr(nullptr);
  request.set_dmi_allowed(false);
  request.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::sc_time::from_value(created - now);
  requesting_ = &request;
  const tlm::tlm_sync_enum answer = socket->nb_transport_fw(request, phase, delay);
  const auto at = [&] { return later(sc_core::sc_time_stamp().value(), delay.value()); };
  if (answer == tlm::TLM_ACCEPTED) return;
  if (requesting_ == &request) requesting_ = nullptr;
  if (answer == tlm::TLM_COMPLETED) {
    answered(request, at());
  } else if (phase == tlm::BEGIN_RESP) {
    phase = tlm::END_RESP;
    socket->nb_transport_fw(request, phase, delay);
    answered(request, at());
  }
}

tlm::tlm_sync_enum MemoryTraffic::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  auto& request = static_cast<Request&>(payload);
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (requesting_ == &request) {  // END_REQ, or it was skipped
    requesting_ = nullptr;
    wake_.notify(sc_core::SC_ZERO_TIME);
  }
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  const Picoseconds at = later(now, delay.value());
  answered(request, at);
  // The next block, at once where that is possible: it spares an event.
  if (config_.rate == 0 && issued_ < config_.blocks) {
    if (at == now && !issuing_) {
      issue_all(now);
    } else {
      wake_.notify(sc_core::SC_ZERO_TIME);
    }
  }
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void MemoryTraffic::answered(Request& request, Picoseconds at) {
  if (request.is_response_error())
    SC_REPORT_ERROR("weft/sc_models/memory_traffic",
                    (std::string(name()) + ": the memory answered " + request.get_response_string()).c_str());
  latencies_.push_back(at - request.created);
  last_ = std::max(last_, at);
  ++answered_;
  request.release();
}

void MemoryTraffic::free(tlm::tlm_generic_payload* payload) {
  free_.push_back(static_cast<Request*>(payload));
}

}  // namespace weft
