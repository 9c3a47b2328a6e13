// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/memory_replay.h"

#include <fmt/format.h>

#include <utility>

#include "configs/loader.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/hbm.h"

namespace weft::cosim {
namespace {

const Recording& checked_memory(const Recording& recording) {
  check_kind(recording, "memory", "access");
  return recording;
}

bool is_remote(const RecordingHeader& header) {
  return header.block.rfind("remote", 0) == 0;
}

}  // namespace

/// One side of a socket: payloads of the pool, whose answers end at once.
class MemoryReplay::Initiator final : public tlm::tlm_bw_transport_if<> {
 public:
  explicit Initiator(const std::string& name) : socket(name.c_str()) { socket.bind(*this); }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  tlm::tlm_initiator_socket<32> socket;
};

MemoryReplay::MemoryReplay(sc_core::sc_module_name module_name, const Recording& recording, const Make& make,
                           const ReplayOptions& options)
    : sc_core::sc_module(module_name),
      options_(options),
      report_(checked_memory(recording)),
      config_(parse_config(recording.header.configuration, "the recorded configuration")),
      feed_(recording) {
  const RecordingHeader& header = recording.header;
  const auto sockets = static_cast<uint32_t>(header.ports.size());
  MemoryContext context{hbm_timing(config_.hbm), sockets, nullptr};
  if (is_remote(header)) {
    if (!config_.remote_memory)
      throw UserError(ExitCode::usage, "the recorded configuration has no `remote_memory`");
    context.figures = {config_.remote_memory->bandwidth, config_.remote_memory->latency, 0, 1.0};
  }
  if (make) {
    memory_ = make(header.block.c_str(), context);
  } else if (config_.hbm.banked() && !is_remote(header)) {
    dram_ = make_dram_device(config_.hbm, config_.hbm.stacks);
    memory_ = std::make_unique<BankedHbm>(header.block.c_str(), dram_, config_.hbm.stacks,
                                          config_.hbm.capacity, sockets, nullptr);
  } else {
    memory_ = std::make_unique<Hbm>(header.block.c_str(), context.figures, sockets, nullptr);
  }
  for (uint32_t i = 0; i < sockets; ++i) {
    initiators_.push_back(std::make_unique<Initiator>(fmt::format("initiator{}", i)));
    initiators_.back()->socket.bind(memory_->socket(i));
  }
  for (const RecordedEvent& event : recording.events) {
    if (event.into) continue;
    waiting_.emplace(std::get<RecordedAccess>(event.what).number, &event);
    ++expected_;
  }
  memory_->watch([this](bool over, uint64_t number, const MemoryTarget::Access& access, Picoseconds at) {
    if (over) complete(number, access, at);
  });
  SC_HAS_PROCESS(MemoryReplay);
  SC_METHOD(drive);
  sensitive << feed_.due();
}

MemoryReplay::~MemoryReplay() = default;

void MemoryReplay::drive() {
  feed_.enter([this](const RecordedEvent& event) { begin(event); });
}

void MemoryReplay::begin(const RecordedEvent& event) {
  const auto& access = std::get<RecordedAccess>(event.what);
  ++driven_;
  PayloadPool::Payload& payload = payloads_.take();
  payload.set_command(access.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(access.address);
  std::vector<unsigned char>& bytes = payload.enables;  // the payload's room, which nothing else needs here
  bytes.assign(access.length, 0);
  if (access.write)
    for (uint64_t i = 0; i < access.length; ++i) {
      const uint64_t at = access.address + i;
      bytes[i] = static_cast<unsigned char>(at * 7 + (at >> 8) + driven_);
    }
  payload.set_data_ptr(bytes.data());
  payload.set_data_length(static_cast<unsigned>(access.length));
  payload.set_streaming_width(static_cast<unsigned>(access.length));
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::sc_time::from_value(access.at - event.at);
  const tlm::tlm_sync_enum answer = initiators_[event.port]->socket->nb_transport_fw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) payload.release();
}

void MemoryReplay::complete(uint64_t number, const MemoryTarget::Access& access, Picoseconds at) {
  RecordedEvent actual{sc_core::sc_time_stamp().value(), access.client, false,
                       RecordedAccess{number, access.address, access.length, access.write, at}};
  const auto found = waiting_.find(number);
  if (found == waiting_.end())
    return report_.differs(at, access.client, actual, "was not complete in the recording");
  const RecordedEvent& recorded = *found->second;
  waiting_.erase(found);
  const auto& wanted = std::get<RecordedAccess>(recorded.what);
  const Picoseconds off = at > wanted.at ? at - wanted.at : wanted.at - at;
  if (off <= options_.tolerance) return report_.agrees();
  report_.differs(std::min(at, wanted.at), access.client, recorded,
                  fmt::format("is complete at {} ps, {} ps {} than recorded", at, off,
                              at > wanted.at ? "later" : "earlier"));
}

void MemoryReplay::finish() {
  for (const auto& [number, event] : waiting_)
    report_.differs(std::get<RecordedAccess>(event->what).at, event->port, *event, "is never complete");
  std::vector<std::string> wrong;
  memory_->find_unbalanced(wrong);
  for (const std::string& line : wrong) {
    report_.faulty();
    report_.tell(line);
  }
}

}  // namespace weft::cosim
