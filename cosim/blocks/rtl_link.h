// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An RTL block in a link at `message` fidelity: a retimer, a link layer, a register slice. What comes to the
// link's end goes into the block as a frame, and goes on when the block has sent it. A message that carries
// elements carries them as its bytes.
//
//     class MyLink final : public weft::cosim::RtlLink {
//      public:
//       MyLink(sc_core::sc_module_name name, const weft::LinkContext& context, weft::Parameters& parameters)
//           : RtlLink(name, context, parameters), rtl_("rtl") {
//         clock().clock(rtl_.clk);
//         clock().reset(rtl_.rst_n);
//         forward(WEFT_STREAM_PINS(rtl_, s_fwd), WEFT_STREAM_PINS(rtl_, m_fwd));
//         backward(WEFT_STREAM_PINS(rtl_, s_bwd), WEFT_STREAM_PINS(rtl_, m_bwd));
//       }
//       Vmy_link rtl_;
//     };
//
// The head goes on at the edge at which the block's first beat is taken; what the block has added counts as
// latency of the link. A block that has begun a frame sends it without gaps. The first frame with gaps is a
// warning, and late_frames() counts them.

#ifndef WEFT_COSIM_BLOCKS_RTL_LINK_H
#define WEFT_COSIM_BLOCKS_RTL_LINK_H

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/blocks/frame_book.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/link_model.h"

namespace weft::cosim {

class RtlLink : public LinkModel, public FaultTeller {
 public:
  ~RtlLink() override;

  size_t in_flight() const override { return way_[0].book.size() + way_[1].book.size(); }
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;
  void find_warnings(std::vector<std::string>& lines) const override;
  /// Of both directions: port 0 forward, 1 backward.
  const std::vector<BlockFault>& faults() const override { return faults_.kept(); }
  /// Whose last beat came later than the first one had promised, by a clock's period or more.
  uint64_t late_frames() const { return uint64_t{way_[0].late} + way_[1].late; }

 protected:
  /// Reads the parameters of the block's clock (read_clock); `defaults` hold where one is absent.
  RtlLink(sc_core::sc_module_name name, const LinkContext& context, Parameters& parameters,
          const BlockClock::Options& defaults = {});

  BlockClock& clock() { return clock_; }
  /// In the constructor, both: the slave and the master port of the direction away from the link's initiator,
  /// and those of the other one.
  void forward(StreamPins in, StreamPins out) { add(0, std::move(in), std::move(out)); }
  void backward(StreamPins in, StreamPins out) { add(1, std::move(in), std::move(out)); }

 private:
  struct Way {
    Way(FaultList& faults, uint32_t way) : book(faults, way) {}
    FrameBook book;
    std::unique_ptr<StreamMaster> in;
    std::unique_ptr<StreamSlave> out;
    FrameBook::Place coming;
    bool is_coming = false;
    uint32_t late = 0;
    std::unordered_map<uint32_t, fabric::Crossing> crossings;  ///< by FrameBook::Entry::handle
  };
  void before_end_of_elaboration() override;
  void add(uint32_t way, StreamPins in, StreamPins out);
  void cross(bool forward, const fabric::Crossing& crossing) override;
  void beat(uint32_t way, const StreamSlave::Beat& beat);
  void frame(uint32_t way, const StreamFrame& frame, Picoseconds last);

  const std::string link_;
  BlockClock clock_;
  FaultList faults_;
  Way way_[2] = {{faults_, 0}, {faults_, 1}};
  uint32_t next_ = 0;
};

}  // namespace weft::cosim

#endif
