// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What every model of a switch at `message` fidelity has in common: the ports with their links and sockets,
// and the way a message takes through the switch, and the collective unit. A model says when a message goes
// on. Crossbar is the one of this library; plugins bring others (plugin.h).

#ifndef WEFT_SC_MODELS_SWITCH_MODEL_H
#define WEFT_SC_MODELS_SWITCH_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/implementation.h"
#include "configs/large_pages.h"
#include "configs/named_registry.h"
#include "configs/types.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/component.h"
#include "tlm_interconnect/border/crossing.h"
#include "tlm_interconnect/ports/fetch_lines.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "vcd/probe_hub.h"

namespace weft {

/// How results name a link that leaves a switch.
struct SwitchLink {
  std::string name;  ///< behind the switch's own name
  std::string to;    ///< the module at the other side
  uint32_t dimension = 0;
};

/// The ways through one switch.
class SwitchWays {
 public:
  virtual ~SwitchWays() = default;
  /// The port by which a packet leaves.
  virtual uint32_t output(const fabric::Packet& packet) const = 0;
  /// The link behind a port.
  virtual SwitchLink link(uint32_t port) const = 0;
  /// It does not at the receiving end of a one-way link.
  virtual bool sends(uint32_t) const { return true; }
  /// Of messages that could go on at one time: which is first, the one with the lowest number.
  virtual uint32_t turn(uint32_t port, const fabric::Packet&) const { return port; }
};

class SwitchSignals;
class UnitModel;
class UnitPorts;

/// What a switch is made of.
struct SwitchContext {
  struct PortContext {
    fabric::LinkType* link = nullptr;  ///< of what the switch sends there; outlives it
    bool initiator = false;            ///< the switch has the initiator socket of the link
    fabric::Link* shared = nullptr;    ///< sends on this link of another module, which counts it; outlives it
  };
  std::vector<PortContext> ports;
  std::shared_ptr<const SwitchWays> ways;
  Switching switching = Switching::cut_through;
  fabric::PacketPool& pool;
  ActivationWheel& wheel;
  /// Makes its collective unit, as a module within the switch; empty: it has none.
  std::function<std::unique_ptr<UnitModel>(UnitPorts& ports)> make_unit = nullptr;
  LinkPlace link_place = LinkPlace::switches;
  fabric::CrossingElements* elements = nullptr;  ///< makes bytes of carried elements; null: there are none
};

/// Every message has a time of its head and of its tail. A model keeps it until it goes on, and then calls
/// forward(). What a model does at one instant must follow from (time, port, order of arrival at that port)
/// alone.
///
/// Messages to the switch's collective unit do not come to the model: the unit gets them. Its results leave
/// by the ports' links, when these are free.
class SwitchModel : public sc_core::sc_module, public Component, private Wakeable {
 public:
  ~SwitchModel() override;

  /// One end of a link, of its kind, and the link that this switch sends on.
  class Port final : public fabric::FabricEndpoint {
   public:
    void receive(const fabric::Transfer& transfer) override;

    SwitchModel* owner = nullptr;
    uint32_t number = 0;
    fabric::Link link;
    fabric::Link* shared = nullptr;   ///< in place of `link`
    const void* peer_hint = nullptr;  ///< where the NMU at the other end keeps what a message touches
    fabric::Link& sends() { return shared != nullptr ? *shared : link; }
    /// Asks the processor for what a message to the other end touches.
    void fetch_peer() const {
      __builtin_prefetch(backward_);
      if (peer_hint != nullptr) fabric::fetch_lines(peer_hint, 384);
    }
    /// Hands the transfer to the other end. Fatal when it is bound to none.
    void send(fabric::Transfer& transfer);
    std::unique_ptr<fabric::fabric_initiator_end> initiator;  ///< at the link's `from` end
    std::unique_ptr<fabric::fabric_target_end> target;        ///< at its `to` end

   private:
    void resolve();
    fabric::fabric_fw_if* forward_ = nullptr;   ///< the other end, once something has been sent
    fabric::fabric_bw_if* backward_ = nullptr;  ///< the same; of a target
  };

  using Ports = std::vector<Port, LargePageAllocator<Port>>;
  Ports& ports() { return ports_; }
  const Ports& ports() const { return ports_; }
  /// Messages that are in the switch.
  virtual size_t in_flight() const = 0;
  uint64_t activations() const { return activations_; }
  /// The collective unit; null: it has none.
  const UnitModel* unit() const;
  Switching switching() const { return cut_through_ ? Switching::cut_through : Switching::store_and_forward; }
  const SwitchWays* ways() const { return ways_.get(); }
  /// The link that leaves by a port, as results name it.
  LinkReport report(uint32_t port) const;
  void count(Counters& counters) const final;
  void for_each_link(const LinkVisitor& visit) const override;
  LinkPlace link_place() const final { return link_place_; }
  std::string stall_text() const final;
  /// Waveforms (see SwitchSignals). Call at elaboration; `probes` outlives the switch.
  void record(vcd::ProbeHub& probes);
  /// For the stall report: why messages do not go on, a line each; empty: none is held.
  virtual std::string explain_stall() const { return {}; }

 protected:
  SwitchModel(sc_core::sc_module_name name, SwitchContext context);

  /// A message that comes by a port.
  struct Arrival {
    uint32_t port = 0;
    Picoseconds head = 0;  ///< of its first byte, >= now
    Picoseconds tail = 0;  ///< of its last byte
    fabric::PacketRef packet = fabric::kNoPacket;
  };
  /// Called when the sender commits the message: before its head is here.
  virtual void arrive(const Arrival& arrival) = 0;
  /// Something else than a message came by a port: a credit.
  virtual void control(uint32_t port, const fabric::Transfer& transfer) { (void)port, (void)transfer; }
  /// Called at the time that wake_at() has asked for.
  virtual void work(Picoseconds now) = 0;
  /// Asks for work() at `time` (>= now), or earlier if that has been asked for.
  void wake_at(Picoseconds time) { Wakeable::wake_at(time); }
  /// Within work(): a wake_at() of arrive() would be one too many.
  bool working() const { return running(); }

  /// SwitchWays::turn().
  uint32_t turn(const Arrival& arrival) const { return ways_->turn(arrival.port, pool_[arrival.packet]); }
  const fabric::Packet& packet(fabric::PacketRef ref) const { return pool_[ref]; }
  fabric::PacketPool& packets() { return pool_; }
  bool cut_through() const { return cut_through_; }
  /// When a message can go on at the earliest: its head is there (cut-through), or its tail.
  Picoseconds ready(const Arrival& arrival) const { return cut_through_ ? arrival.head : arrival.tail; }
  uint32_t output(fabric::PacketRef ref) const { return ways_->output(pool_[ref]); }
  // No effect on results: asks the processor for what forward() touches. In this order, some messages apart.
  void fetch_packet(fabric::PacketRef ref) const { __builtin_prefetch(&pool_[ref], 1); }
  void fetch_port(uint32_t port) const {
    const char* const at = reinterpret_cast<const char*>(&ports_[port]);
    for (size_t line = 0; line < sizeof(Port); line += 64) __builtin_prefetch(at + line, 1);
  }
  void fetch_receiver(uint32_t port) const { ports_[port].fetch_peer(); }
  /// Sends the message by a port: it takes the port's link when that is free, from `now` on, and its last
  /// byte does not leave before `tail`. `now` is the current time. The packet is no longer this switch's.
  fabric::Link::Slot forward(fabric::PacketRef ref, uint32_t port, Picoseconds now, Picoseconds tail);

 private:
  class Host;
  void activate(Picoseconds now) final;

  fabric::PacketPool& pool_;
  std::shared_ptr<const SwitchWays> ways_;
  const LinkPlace link_place_;
  bool cut_through_;
  std::unique_ptr<fabric::fabric_initiator_port> initiators_;  ///< of the ports' ends; null: there are none
  std::unique_ptr<fabric::fabric_target_port> targets_;        ///< likewise
  Ports ports_;
  std::unique_ptr<Host> host_;  ///< of the collective unit; null: there is none
  uint64_t activations_ = 0;
  std::unique_ptr<SwitchSignals> signals_;  ///< null: nobody looks
};

using SwitchMaker = std::function<std::unique_ptr<SwitchModel>(
    sc_core::sc_module_name name, SwitchContext context, Parameters& parameters)>;

/// The switch models there are, by the names that `implementation:` takes.
NamedRegistry<SwitchMaker>& switch_models();

/// A switch of the model that `implementation` names. `owner` begins messages: the key. Errors:
/// UserError(usage) for a name or parameter that there is not, and for whatever the model throws.
std::unique_ptr<SwitchModel> make_switch(const std::string& implementation, const std::string& owner,
                                         const char* name, SwitchContext context);

}  // namespace weft

#endif
