// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What stands in the place of one router of a packet network: RTL behind an adapter, or a model in C++. It
// has a border (tlm_interconnect/border/packet_border.h) at every port. The router of this library stays in
// its place in the network, bound to nothing, and counts what the block sends.

#ifndef WEFT_SC_MODELS_ROUTER_MODEL_H
#define WEFT_SC_MODELS_ROUTER_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "tlm_interconnect/border/packet_border.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/router.h"

namespace weft {

/// The router that a model stands for.
struct RouterPlace {
  struct Port {
    fabric::PacketLinkTerms terms;
    Ticks flit_time = 0;     ///< how long a flit occupies the link that leaves by the port
    bool initiator = false;  ///< the router has the initiator socket of the link
  };
  std::string name;  ///< as `implementations` names it: `packet0_0.router5`
  std::vector<Port> ports;
  packet::PacketConfig config;  ///< of the network
  fabric::PacketPool& pool;     ///< likewise; it outlives the model
  /// Where a packet goes that comes by a port and virtual channel: the first way that the network's routing
  /// policy lists. Empty: in a testbench, where the model is told.
  std::function<packet::RouteCandidate(uint32_t port, uint32_t vc, const fabric::PacketHead& head)> way;
  /// What the block has sent by a port.
  std::function<void(uint32_t port, const packet::OutputLoad& load)> carried;
  /// Hears of all that comes (`sent`: leaves) by a port, for waveforms. Empty: nobody looks.
  std::function<void(uint32_t port, const fabric::FlitCrossing& crossing, bool sent)> crossed = nullptr;
};

class RouterModel : public sc_core::sc_module {
 public:
  ~RouterModel() override;

  fabric::PacketBorder& border(uint32_t port) { return *borders_[port]; }
  uint32_t ports() const { return static_cast<uint32_t>(borders_.size()); }
  const std::string& place_name() const { return place_.name; }
  /// Flits that are in it.
  virtual size_t in_flight() const = 0;
  /// For the stall report: why they do not go on, a line each; empty: none is held.
  virtual std::string explain_stall() const { return {}; }
  virtual uint64_t activations() const { return 0; }

 protected:
  RouterModel(sc_core::sc_module_name name, RouterPlace place);

  /// Flits, credits, a pause: told ahead, with their times.
  virtual void arrive(uint32_t port, const fabric::FlitCrossing& crossing) = 0;
  /// Sends flits or credits by a port. `crossing.first` is when the first is at the other end: the link's
  /// latency from now, or later.
  void send(uint32_t port, const fabric::FlitCrossing& crossing);
  const RouterPlace& place() const { return place_; }

 private:
  struct Sending {
    bool last = false;  ///< the packet is its message's last one
    uint64_t bytes = 0;
  };
  const RouterPlace place_;
  std::vector<std::unique_ptr<fabric::PacketBorder>> borders_;
  std::vector<Sending> sending_;  ///< by port and virtual channel
};

using RouterMaker = std::function<std::unique_ptr<RouterModel>(sc_core::sc_module_name name,
                                                               RouterPlace place, Parameters& parameters)>;

/// The models of routers there are.
NamedRegistry<RouterMaker>& router_models();

/// A model of the router. `owner` begins messages: the key. Errors: UserError(usage).
std::unique_ptr<RouterModel> make_router(const std::string& implementation, const std::string& owner,
                                         const char* name, RouterPlace place);

/// Binds the sockets of a link's end that nothing uses any more.
class ParkedEnd final : private fabric::FabricEndpoint {
 public:
  ParkedEnd(const char* name, fabric::BorderSocket::Side side) : socket_(name, side, *this) {}
  fabric::fabric_initiator_socket* initiator() { return socket_.initiator(); }
  fabric::fabric_target_socket* target() { return socket_.target(); }

 private:
  void receive(const fabric::Transfer& transfer) override;
  fabric::BorderSocket socket_;
};

}  // namespace weft

#endif
