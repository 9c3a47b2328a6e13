// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A testbench of one NPU: the recorded nodes of a rank go to it at the times of the job: what it computed,
// loaded and stored. When each is answered is compared with the recording. Nothing is moved: the order of
// nodes, collectives, messages and memories were the job's.
//
//     const Recording recording = read_recording("npu3.rec");
//     NpuReplay bench("bench", recording, [](const char* name, const NpuContext& context) {
//       return std::make_unique<MyNpu>(name, context);
//     });
//     sc_core::sc_start();
//     bench.finish();
//     if (const Difference* first = bench.report().first()) std::puts(describe(*first).c_str());

#ifndef WEFT_COSIM_RECORD_NPU_REPLAY_H
#define WEFT_COSIM_RECORD_NPU_REPLAY_H

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "cosim/record/replay.h"
#include "sc_models/memory_target.h"
#include "sc_models/node_watch.h"
#include "sc_models/npu_model.h"

namespace weft::cosim {

class NpuReplay final : public sc_core::sc_module, public BlockReplay, private NodeWatch {
 public:
  using Make = std::function<std::unique_ptr<NpuModel>(const char* name, const NpuContext& context)>;

  /// Errors: UserError(usage) for a recording of another kind of block, and for a model that runs no nodes
  /// without a job. The recording outlives the module.
  NpuReplay(sc_core::sc_module_name name, const Recording& recording, const Make& make,
            const ReplayOptions& options = {});
  ~NpuReplay() override;

  void finish() override;
  const ReplayReport& report() const override { return report_; }
  const NpuModel& block() const { return *npu_; }
  const char* unit() const override { return "nodes"; }
  uint64_t driven() const override { return nodes_.size(); }
  uint64_t expected() const override { return answers_.size(); }
  std::string stall_text() const override { return npu_->stall_text(); }

 private:
  class NoFabric;
  /// A node that was handed over.
  struct Handed {
    const RecordedEvent* start = nullptr;
    bool answered = false;
  };

  void started(const trace::Node&, Picoseconds) override {}
  void answered(const trace::Node& node, Picoseconds at) override;
  void drive();
  void hand_over(const RecordedEvent& event);

  const ReplayOptions options_;
  ReplayReport report_;
  const Config config_;
  std::unique_ptr<NoFabric> fabric_;
  std::unique_ptr<NpuModel> npu_;
  std::vector<std::unique_ptr<MemoryTarget>> memories_;  ///< that nothing accesses
  std::deque<trace::Node> nodes_;  ///< by Node::index: in the order in which they are handed over
  std::vector<Handed> handed_;     ///< .. likewise
  std::unordered_map<uint64_t, Picoseconds> answers_;  ///< recorded ones, by the start's number
  ReplayFeed feed_;
};

}  // namespace weft::cosim

#endif
