// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A packet network made of a topology: routers, network interfaces and the links between them; and the checks
// every run ends with. It never starts or stops the simulation.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKET_NETWORK_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKET_NETWORK_H

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "tlm_interconnect/packet/flit_sender.h"
#include "tlm_interconnect/packet/link_joiner.h"
#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/packet/packet_wheel.h"
#include "tlm_interconnect/packet/router.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

class PacketNetwork final : public sc_core::sc_module, private NotificationCarrier {
 public:
  /// Throws UserError when topology and configuration do not fit. `joiner`: joins the links; null: they are
  /// just bound. `wheel`: runs the modules, and outlives the network; null: it has one of its own.
  PacketNetwork(sc_core::sc_module_name name, const PacketConfig& config, PacketTopology topology,
                const Segmentation& segmentation = {}, LinkJoiner* joiner = nullptr,
                PacketWheel* wheel = nullptr);
  ~PacketNetwork() override;

  const PacketTopology& topology() const { return topology_; }
  const PacketConfig& config() const { return config_; }
  const RoutingPolicy& routing() const { return *routing_; }
  uint32_t ranks() const { return topology_.ranks(); }
  /// Interface i below ranks() is the first one of rank i; those after it are further lanes.
  uint32_t nis() const { return static_cast<uint32_t>(nis_.size()); }
  NetworkInterface& ni(uint32_t number) { return *nis_[number]; }
  const NetworkInterface& ni(uint32_t number) const { return *nis_[number]; }
  MessagePool& messages() { return messages_; }
  Router& router(uint32_t index) { return *routers_[index]; }
  const Router& router(uint32_t index) const { return *routers_[index]; }
  uint32_t routers() const { return static_cast<uint32_t>(routers_.size()); }

  uint64_t packets_in_flight() const { return pool_.live(); }
  uint64_t messages_in_flight() const { return messages_.live(); }
  uint64_t flits_received() const;
  uint64_t packet_hops() const;
  uint64_t activations() const;

  /// Priority flow control, over all links: pauses in force so far, how long they lasted (added up over links
  /// and virtual networks), and packets that found a full buffer without having been paused.
  struct PfcFigures {
    uint64_t pauses = 0;
    Ticks paused = 0;
    uint64_t overruns = 0;
    uint32_t senders = 0;  ///< ports and interfaces that can be paused
  };
  PfcFigures pfc() const;

  /// Waveforms of the routers and interfaces (see RouterProbes, InterfaceProbes). Call at elaboration;
  /// `probes` must outlive the network. What is recorded is simulated packet by packet: with anything
  /// selected there are no trains.
  void record(vcd::ProbeHub& probes);
  /// Somebody watches what leaves its routers and interfaces: every packet is simulated. At elaboration.
  void watch() { recorded_ = true; }
  /// .. of one link, by the name that results give it. `messages`: whose handles the messages' id_low are.
  void record_link(vcd::ProbeHub& probes, const FlitSender& sender, const std::string& link,
                   const fabric::PacketPool* messages);

  /// Flits sent by all routers and interfaces, trains not counted: while this does not grow nothing moves.
  uint64_t flits_moved() const;
  /// While packets are in the network and are not stuck for good, a flit is sent at least this often.
  Ticks longest_pause() const;
  /// ECN: packets marked by routers (one may be marked several times), and DCQCN's notifications.
  uint64_t packets_marked() const;
  uint64_t notifications() const;

  /// Packet trains so far; null: there are none in this network.
  const PacketTrains* trains() const { return trains_.get(); }
  /// Brings every counter of routers and interfaces up to now: what travels by train is counted only when the
  /// train ends. Call between two steps of the simulation.
  void settle() {
    if (trains_) trains_->resume_all();
  }

  /// Everything is as it was in the beginning, but for what has been counted: all credits are back, arbiters,
  /// rates and numbers that are drawn by begin anew, and a clock edge is now. So what follows takes the time
  /// that it would take alone. Call between two steps of the simulation, when no message is on its way.
  void restart();

  /// Empty: all hold. At any time: credits here and on their way + flits announced at the other end = depth,
  /// per link and VC. With `drained`: nothing is left anywhere, flits in = flits out.
  std::string broken_invariant(bool drained) const;
  /// Why nothing moves any more: who waits for what, and the cycle of buffers and packets if there is one.
  /// Empty if no packet is in the network.
  std::string explain_stall() const;

 private:
  struct Place {
    uint32_t router;
    uint32_t port;
    uint32_t vc;
  };
  void end_of_elaboration() override;
  void carry_notification(uint32_t from, const fabric::Packet& packet, Ticks at) override;
  /// Time of one flit from interface `from` to the rank `to` through an empty network.
  Ticks unloaded_flit(uint32_t from, uint32_t to, uint32_t virtual_network) const;
  PortConfig port_config(const TopologyPort& port, bool at_router) const;
  void find_near();
  void join(uint32_t router, uint32_t port, fabric::fabric_target_socket& to, LinkJoiner* joiner);
  Ticks or_cycle(Ticks t) const { return t == 0 ? config_.cycle : t; }
  std::string describe(const Place& place, std::vector<Place>& waits_for) const;

  const PacketConfig config_;
  const PacketTopology topology_;
  const uint32_t packet_flits_;  ///< of a full packet
  fabric::PacketPool pool_;
  MessagePool messages_;
  std::unique_ptr<PacketWheel> own_wheel_;  ///< null: another one runs the modules
  std::unique_ptr<RoutingPolicy> routing_;
  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<std::unique_ptr<NetworkInterface>> nis_;
  std::unique_ptr<PacketTrains> trains_;
  bool on_cycle_ = true;  ///< every time of every link is a multiple of the cycle
  bool recorded_ = false;
  bool parted_ = false;  ///< some of its links lead to another process
};

}  // namespace weft::packet

#endif
