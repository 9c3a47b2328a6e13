// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A testbench of one switch: a recording of a switch of a whole job drives it, message by message, at the
// times of the job. What it sends is compared with what the recorded switch sent.
//
//     const Recording recording = read_recording("switch0_1.rec");
//     SwitchReplay bench("bench", recording, [](const char* name, SwitchContext context) {
//       return std::make_unique<MySwitch>(name, std::move(context));
//     });
//     sc_core::sc_start();
//     bench.finish();
//     if (const Difference* first = bench.report().first()) std::puts(describe(*first).c_str());

#ifndef WEFT_COSIM_RECORD_SWITCH_REPLAY_H
#define WEFT_COSIM_RECORD_SWITCH_REPLAY_H

#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "cosim/record/message_answers.h"
#include "cosim/record/replay.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/switch_model.h"
#include "tlm_interconnect/border/border.h"

namespace weft::cosim {

class SwitchReplay final : public sc_core::sc_module, public BlockReplay {
 public:
  using Make = std::function<std::unique_ptr<SwitchModel>(const char* name, SwitchContext context)>;

  /// Errors: UserError(usage) for a recording of another kind of block, or of a switch with a collective
  /// unit. The recording outlives the module.
  SwitchReplay(sc_core::sc_module_name name, const Recording& recording, const Make& make,
               const ReplayOptions& options = {});
  ~SwitchReplay() override;

  void finish() override;
  const ReplayReport& report() const override { return report_; }
  const SwitchModel& block() const { return *switch_; }
  uint64_t driven() const override { return driven_; }
  uint64_t expected() const override { return answers_.expected(); }
  std::string stall_text() const override { return switch_->stall_text(); }
  const char* unit() const override { return "messages"; }

 private:
  class Ways;
  class Elements;
  void drive();

  const ReplayOptions options_;
  ReplayReport report_;
  MessageAnswers answers_;
  std::unique_ptr<Elements> elements_;
  fabric::PacketPool pool_;
  ActivationWheel wheel_;
  std::deque<fabric::LinkType> types_;
  std::unique_ptr<SwitchModel> switch_;
  std::vector<std::unique_ptr<fabric::Border>> borders_;  ///< by port; null: no link was there
  ReplayFeed feed_;
  uint64_t driven_ = 0;
};

}  // namespace weft::cosim

#endif
