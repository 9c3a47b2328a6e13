// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/npu_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "configs/loader.h"
#include "sc_models/hbm.h"

namespace weft::cosim {
namespace {

const Recording& checked_npu(const Recording& recording) {
  check_kind(recording, "npu", "node");
  return recording;
}

}  // namespace

/// An NPU without a job asks nothing of it.
class NpuReplay::NoFabric final : public FabricService {
 public:
  void attach(NmuClient&) override {}
  void detach() override {}
  void start_collective(uint32_t, std::shared_ptr<const collectives::CollectivePlan>, int32_t,
                        uint8_t) override {}
  void send(NpuId, uint32_t, uint32_t, uint64_t, uint32_t, uint8_t) override {}
  void message_awaited(NpuId, bool) override {}
};

NpuReplay::NpuReplay(sc_core::sc_module_name module_name, const Recording& recording, const Make& make,
                     const ReplayOptions& options)
    : sc_core::sc_module(module_name),
      options_(options),
      report_(checked_npu(recording)),
      config_(parse_config(recording.header.configuration, "the recorded configuration")),
      fabric_(std::make_unique<NoFabric>()),
      feed_(recording) {
  const std::string& name = recording.header.block;
  npu_ = make(name.c_str(), NpuContext{numbered(recording, "npu"), config_, *fabric_});
  const auto bind = [this](MemoryDma& dma, const char* memory) {
    memories_.push_back(std::make_unique<Hbm>(memory, hbm_timing(config_.hbm), 1, nullptr));
    dma.socket.bind(memories_.back()->socket(0));
  };
  bind(npu_->memory(), "memory");
  if (MemoryDma* const remote = npu_->remote_memory()) bind(*remote, "remote");
  if (!npu_->watch_nodes(*this))
    throw UserError(ExitCode::usage,
                    "this model of an NPU runs no nodes without a job, and cannot be replayed; models "
                    "that derive from Npu or RtlNpu can");
  for (const RecordedEvent& event : recording.events)
    if (!event.into)
      answers_.emplace(std::get<RecordedNode>(event.what).number, std::get<RecordedNode>(event.what).at);
  SC_HAS_PROCESS(NpuReplay);
  SC_METHOD(drive);
  sensitive << feed_.due();
}

NpuReplay::~NpuReplay() = default;

void NpuReplay::drive() {
  feed_.enter([this](const RecordedEvent& event) { hand_over(event); });
}

void NpuReplay::hand_over(const RecordedEvent& event) {
  const auto& recorded = std::get<RecordedNode>(event.what);
  nodes_.push_back(*recorded.node);
  nodes_.back().index = static_cast<trace::NodeIndex>(handed_.size());
  handed_.push_back({&event});
  (void)npu_->run_node(nodes_.back(), recorded.time);
}

void NpuReplay::answered(const trace::Node& node, Picoseconds at) {
  Handed& handed = handed_[node.index];
  const RecordedEvent& start = *handed.start;
  handed.answered = true;
  const auto recorded = answers_.find(std::get<RecordedNode>(start.what).number);
  if (recorded == answers_.end())
    return report_.differs(at, start.port, start, "is answered, and was not in the recording");
  const Picoseconds wanted = recorded->second;
  const Picoseconds off = at > wanted ? at - wanted : wanted - at;
  if (off <= options_.tolerance) return report_.agrees();
  report_.differs(std::min(at, wanted), start.port, start,
                  fmt::format("is answered at {} ps, {} ps {} than recorded", at, off,
                              at > wanted ? "later" : "earlier"));
}

void NpuReplay::finish() {
  for (const Handed& handed : handed_) {
    if (handed.answered) continue;
    const auto recorded = answers_.find(std::get<RecordedNode>(handed.start->what).number);
    if (recorded != answers_.end())
      report_.differs(recorded->second, handed.start->port, *handed.start, "is never answered");
  }
  std::vector<std::string> wrong;
  npu_->find_unbalanced(wrong);
  for (const std::string& line : wrong) {
    report_.faulty();
    report_.tell(line);
  }
}

}  // namespace weft::cosim
