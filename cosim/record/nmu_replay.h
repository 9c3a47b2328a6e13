// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A testbench of one NMU: a recording of an NMU of a whole job drives it. At its own side it is handed over
// the messages of its NPU and its collectives, at its links it gets those of others, at the times of the job.
// What it sends and delivers is compared with what the recorded NMU sent and delivered. The machine around it
// is that of the recording; no other module of it exists.
//
//     const Recording recording = read_recording("nmu3.rec");
//     NmuReplay bench("bench", recording, [](const char* name, NpuId rank, const NmuContext& context) {
//       return std::make_unique<MyNmu>(name, rank, context);
//     });
//     sc_core::sc_start();
//     bench.finish();
//     if (const Difference* first = bench.report().first()) std::puts(describe(*first).c_str());

#ifndef WEFT_COSIM_RECORD_NMU_REPLAY_H
#define WEFT_COSIM_RECORD_NMU_REPLAY_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "cosim/record/message_answers.h"
#include "cosim/record/replay.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/message_crossings.h"
#include "sc_models/nmu_model.h"
#include "sc_models/payload_elements.h"
#include "sc_models/settled_call.h"
#include "tlm_interconnect/border/border.h"
#include "workload/collectives/data.h"

namespace weft::cosim {

class NmuReplay final : public sc_core::sc_module,
                        public BlockReplay,
                        private NmuClient,
                        private MessageSink {
 public:
  using Make =
      std::function<std::unique_ptr<NmuModel>(const char* name, NpuId rank, const NmuContext& context)>;

  /// Errors: UserError(usage) for a recording of another kind of block, of an NMU with links at `analytical`
  /// or `packet` fidelity, and for a model that takes no messages of others. The recording outlives the
  /// module.
  NmuReplay(sc_core::sc_module_name name, const Recording& recording, const Make& make,
            const ReplayOptions& options = {});
  ~NmuReplay() override;

  void finish() override;
  const ReplayReport& report() const override { return report_; }
  const NmuModel& block() const { return *nmu_; }
  const char* unit() const override { return "messages"; }
  uint64_t driven() const override { return driven_; }
  uint64_t expected() const override { return answers_.expected(); }
  std::string stall_text() const override { return nmu_->stall_text(); }

 private:
  static constexpr uint32_t kNone = ~0u;

  void join_links();
  void join(const LinkSocket& socket, std::map<uint32_t, uint32_t> ports);
  uint32_t port_of(const std::string& suffix) const;
  void plan_order();
  void drive();
  void drive_on(bool all);
  bool waits(const RecordedEvent& event, size_t at, bool all) const;
  void hand_over(const fabric::Crossing& crossing);
  void delivered(fabric::Crossing crossing);

  // NmuClient, MessageSink: only what the recording says happens next.
  void collective_done(NpuId, const collectives::CollectiveDone&) override {}
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}
  void completed(const Completion&) override {}
  void wake(uint32_t) override {}
  void settled() override {}

  const Recording& recording_;
  const ReplayOptions options_;
  ReplayReport report_;
  MessageAnswers answers_;
  Config config_;
  Geometry geometry_;
  std::unique_ptr<collectives::DataContext> data_;
  std::unique_ptr<PayloadElements> elements_;
  collectives::UnitDirectory units_;
  std::vector<fabric::LinkType> link_types_;
  fabric::PacketPool pool_;
  ActivationWheel wheel_;
  MessageCrossings messages_;
  uint32_t own_side_ = kNone;  ///< port
  std::unique_ptr<NmuModel> nmu_;
  MessagePort* programs_ = nullptr;
  std::vector<std::unique_ptr<fabric::Border>> borders_;
  std::vector<fabric::Border*> border_of_;  ///< by port; null: none
  std::vector<uint32_t> after_;             ///< by event: deliveries of its instant that came before it
  std::vector<bool> after_leaving_;         ///< .. a point-to-point message has left in its instant before it
  std::map<MessageKey, Picoseconds> held_back_;  ///< deliveries at the end of a full exchange
  sc_core::sc_event next_;
  SettledCall rest_;
  Picoseconds instant_ = 0;
  uint32_t delivered_now_ = 0;
  Picoseconds rested_ = kNever;  ///< instant in which all point-to-point messages that were due have left
  size_t position_ = 0;
  uint64_t driven_ = 0;
};

}  // namespace weft::cosim

#endif
