// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A testbench of one router of a packet network: a recording of a router of a whole job drives it, flit by
// flit, at the times of the job. What it sends is compared with what the recorded router sent.
//
// The block is told where packets went and on which virtual channel. Neighbours keep to the credits: flits
// for which the block has given none, and credits for flits that have not left it, wait until they may go on.
// So a block that is slower than the recorded one is told as late, and not as broken.

#ifndef WEFT_COSIM_RECORD_ROUTER_REPLAY_H
#define WEFT_COSIM_RECORD_ROUTER_REPLAY_H

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <tuple>
#include <vector>

#include "cosim/record/replay.h"
#include "sc_models/router_model.h"

namespace weft::cosim {

class RouterReplay final : public sc_core::sc_module, public BlockReplay {
 public:
  using Make = std::function<std::unique_ptr<RouterModel>(const char* name, RouterPlace place)>;

  /// Errors: UserError(usage) for a recording of another kind of block, or with pauses (`flow_control: pfc`).
  /// The recording outlives the module.
  RouterReplay(sc_core::sc_module_name name, const Recording& recording, const Make& make,
               const ReplayOptions& options = {});
  ~RouterReplay() override;

  void finish() override;
  const ReplayReport& report() const override { return report_; }
  uint64_t driven() const override { return driven_; }
  uint64_t expected() const override { return packets_.size(); }
  std::string stall_text() const override;
  const char* unit() const override { return "packets"; }

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint8_t>;
  /// A packet that the recorded router has sent.
  struct Packet {
    const RecordedEvent* head = nullptr;
    std::vector<Ticks> flits;  ///< when each is there
    uint32_t came = 0;         ///< flits that have come in the replay
    bool differs = false;
  };
  /// Packets that look the same, in the order in which they have left.
  struct Alike {
    std::vector<size_t> packets;
    size_t routed = 0;
    size_t come = 0;
  };
  /// What stands behind a port, for one virtual channel.
  struct Channel {
    std::deque<const RecordedEvent*> flits;    ///< that wait for credits of the block
    std::deque<const RecordedEvent*> credits;  ///< that wait for flits of the block
    std::deque<Ticks> may_send;                ///< when each credit of the block is here
    uint32_t owed = 0;                         ///< flits of the block without a credit
    Ticks behind = 0;                          ///< the earliest time of the next flit
    Packet* leaving = nullptr;                 ///< the packet that comes out
  };
  static Key key_of(const fabric::PacketHead& head) {
    return {head.id_low, head.id_high, head.interface, head.source, head.destination, head.virtual_network};
  }
  void learn();
  void drive();
  void go_on(uint32_t port, Channel& channel);
  void enter(const RecordedEvent& event, Ticks earliest);
  packet::RouteCandidate way(const fabric::PacketHead& head);
  void left(uint32_t port, const fabric::FlitCrossing& crossing);
  Packet* packet_of(uint32_t port, const fabric::FlitCrossing& crossing);
  void compare(uint32_t port, const fabric::FlitCrossing& crossing, Packet& packet);

  const Recording& recording_;
  const ReplayOptions options_;
  ReplayReport report_;
  std::deque<Packet> packets_;
  std::map<Key, Alike> alike_;
  std::map<uint32_t, uint32_t> by_destination_;  ///< ports
  std::deque<Channel> channels_;                 ///< by port and virtual channel
  uint32_t vcs_ = 1;
  fabric::PacketPool pool_;
  std::unique_ptr<RouterModel> router_;
  std::vector<std::unique_ptr<fabric::PacketBorder>> borders_;  ///< by port; null: no link was there
  sc_core::sc_event next_;
  size_t position_ = 0;
  uint64_t driven_ = 0;
};

}  // namespace weft::cosim

#endif
