// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An RTL switch in the place of a switch at `message` fidelity. Its ports are pairs of AXI4-Stream ports: a
// message that comes by a port goes into the block's slave port as one frame, TDEST the output port, TID the
// input port, TUSER a tag; what leaves a master port goes onto that port's link. TDEST is the machine's
// routing; what queues, arbitrates and waits in between is the block's.
//
//     class MySwitch final : public weft::cosim::RtlSwitch {
//      public:
//       MySwitch(sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& parameters)
//           : RtlSwitch(name, std::move(context), parameters), rtl_("rtl") {
//         clock().clock(rtl_.clk);
//         clock().reset(rtl_.rst_n);
//         for (int p = 0; p < 8; ++p)
//           add_port(WEFT_STREAM_PINS_AT(rtl_, s_axis, p), WEFT_STREAM_PINS_AT(rtl_, m_axis, p));
//       }
//       Vmy_switch rtl_;
//     };
//
// With cut-through a message takes its link when its first beat comes out. A block that has begun a frame
// sends it without gaps that the link would see: then its tail is told as it will be. The first other one
// is a warning, and late_frames() counts them.

#ifndef WEFT_COSIM_BLOCKS_RTL_SWITCH_H
#define WEFT_COSIM_BLOCKS_RTL_SWITCH_H

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/blocks/frame_book.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/switch_model.h"

namespace weft::cosim {

class RtlSwitch : public SwitchModel, public FaultTeller {
 public:
  ~RtlSwitch() override;

  size_t in_flight() const override { return book_.size(); }
  std::string explain_stall() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;
  void find_warnings(std::vector<std::string>& lines) const override;
  const std::vector<BlockFault>& faults() const override { return faults_.kept(); }
  /// Whose last beat came later than the first one had promised, by a clock's period or more.
  uint64_t late_frames() const { return late_frames_; }

 protected:
  /// Reads the parameters of the block's clock (read_clock); `defaults` hold where one is absent.
  RtlSwitch(sc_core::sc_module_name name, SwitchContext context, Parameters& parameters,
            const BlockClock::Options& defaults = {});

  BlockClock& clock() { return clock_; }
  /// In the constructor, once for each of the block's ports: its slave and its master port. Errors:
  /// UserError(usage) for pins that do not fit.
  void add_port(StreamPins in, StreamPins out);

 private:
  struct RtlPort {
    std::unique_ptr<StreamMaster> in;
    std::unique_ptr<StreamSlave> out;
    FrameBook::Place coming;  ///< the frame whose first beat has come out
    bool is_coming = false;
    Picoseconds told = 0;  ///< when its last beat is to come, as it was told
  };
  /// A message whose link is to be taken.
  struct Leaving {
    uint32_t handle = 0;
    uint32_t port = 0;
    Picoseconds tail = 0;
  };
  void before_end_of_elaboration() override;
  void arrive(const Arrival& arrival) override;
  void work(Picoseconds now) override;
  void beat(uint32_t port, const StreamSlave::Beat& beat);
  void frame(uint32_t port, const StreamFrame& frame, Picoseconds first, Picoseconds last);
  void look_for_gaps(const RtlPort& port, Picoseconds first, Picoseconds last);
  void leave(uint32_t handle, uint32_t port, Picoseconds tail);

  BlockClock clock_;
  fabric::CrossingElements* const elements_;
  FaultList faults_;
  FrameBook book_{faults_};
  std::deque<RtlPort> rtl_ports_;
  std::vector<Leaving> leaving_;
  uint64_t late_frames_ = 0;
};

}  // namespace weft::cosim

#endif
