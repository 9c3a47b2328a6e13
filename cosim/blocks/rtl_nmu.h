// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NMU whose datapath is RTL: segmentation of the messages that leave, reassembly of those that come.
// Collectives, routes and links stay those of this library's NMU, and messages that it forwards for others do
// not pass the datapath. At `message` fidelity.
//
// Four AXI4-Stream ports of the same width, with beats of 8 bytes or more. A message is one frame, TID its
// context (a number that is free), TUSER the beats that it has. A segment is one frame: a beat with the
// header, then the beats of the segment, TID the context. The header, from byte 0 on:
//
//     2 bytes   context
//     2 bytes   number of the segment in its message
//     2 bytes   beats that follow
//     1 byte    1: the message's last segment
//
//     class MyNmu final : public weft::cosim::RtlNmu {
//      public:
//       MyNmu(sc_core::sc_module_name name, weft::NpuId rank, const weft::NmuContext& context,
//             weft::Parameters& parameters)
//           : RtlNmu(name, rank, context, parameters), rtl_("rtl") {
//         clock().clock(rtl_.clk);
//         clock().reset(rtl_.rst_n);
//         segmentation(WEFT_STREAM_PINS(rtl_, s_msg), WEFT_STREAM_PINS(rtl_, m_seg));
//         reassembly(WEFT_STREAM_PINS(rtl_, s_seg), WEFT_STREAM_PINS(rtl_, m_msg), 64);
//       }
//       Vmy_nmu rtl_;
//     };
//
// A message goes to its link when its first segment has come out; one that arrives is there when the datapath
// has given out its last beat.

#ifndef WEFT_COSIM_BLOCKS_RTL_NMU_H
#define WEFT_COSIM_BLOCKS_RTL_NMU_H

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/blocks/block_faults.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/nmu.h"
#include "sc_models/payload_elements.h"

namespace weft::cosim {

class RtlNmu : public Nmu, public FaultTeller {
 public:
  ~RtlNmu() override;

  void count(Counters& counters) const override;
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;
  const std::vector<BlockFault>& faults() const override { return faults_.kept(); }
  /// Segments that have come out of the segmentation, and that have gone into the reassembly.
  uint64_t segments_out() const { return segments_out_; }
  uint64_t segments_in() const { return segments_in_; }

 protected:
  /// Reads the parameters of the block's clock (read_clock); `defaults` hold where one is absent. Errors:
  /// UserError(usage) for a machine with a dimension at another fidelity than `message`.
  RtlNmu(sc_core::sc_module_name name, NpuId rank, const NmuContext& context, Parameters& parameters,
         const BlockClock::Options& defaults = {});

  BlockClock& clock() { return clock_; }
  /// In the constructor, both. Messages go in, segments come out.
  void segmentation(StreamPins in, StreamPins out);
  /// Segments go in, of `segment_beats` at most, messages come out.
  void reassembly(StreamPins in, StreamPins out, uint32_t segment_beats);

 private:
  /// A message in one of the two directions.
  struct InBlock {
    bool used = false;
    fabric::PacketRef packet = fabric::kNoPacket;
    MessageFace face;
    std::vector<uint8_t> payload;
    Picoseconds ready = 0;  ///< out: could leave; in: its head
    Picoseconds tail = 0;
    uint32_t port = 0;
    uint32_t segments = 0;          ///< that have come out
    std::vector<uint8_t> gathered;  ///< out: the segments' bytes
  };
  struct Way {
    std::unique_ptr<StreamMaster> in;
    std::unique_ptr<StreamSlave> out;
    std::vector<InBlock> contexts;
    std::deque<InBlock> waiting;  ///< for a context
    size_t messages = 0;
  };
  /// What the NMU sees of the two ways.
  struct Path final : Datapath {
    explicit Path(RtlNmu& owner) : nmu(owner) {}
    void outbound(fabric::PacketRef message, Picoseconds ready) override { nmu.outbound(message, ready); }
    void inbound(fabric::PacketRef message, uint32_t port, Picoseconds head, Picoseconds tail) override {
      nmu.inbound(message, port, head, tail);
    }
    RtlNmu& nmu;
  };
  void before_end_of_elaboration() override;
  void outbound(fabric::PacketRef message, Picoseconds ready);
  void inbound(fabric::PacketRef message, uint32_t port, Picoseconds head, Picoseconds tail);
  InBlock in_block(fabric::PacketRef message);
  void enter(Way& way, InBlock message);
  void cut(uint32_t context);
  void feed();
  void segment(const StreamFrame& frame, Picoseconds last);
  void message(const StreamFrame& frame, Picoseconds last);
  void release(Way& way, uint32_t context);
  void fault(Picoseconds at, uint32_t port, const InBlock* message, std::string what);
  static uint32_t contexts_of(const StreamPins& pins);

  Path path_{*this};
  BlockClock clock_;
  std::unique_ptr<PayloadElements> elements_;
  Way out_;
  Way in_;
  uint32_t segment_beats_ = 0;
  std::multimap<Picoseconds, StreamFrame> coming_;  ///< segments that are not here yet
  sc_core::sc_event feed_;
  FaultList faults_;
  uint64_t segments_out_ = 0;
  uint64_t segments_in_ = 0;
};

}  // namespace weft::cosim

#endif
