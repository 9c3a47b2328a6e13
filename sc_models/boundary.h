// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The boundaries of the modules that can be replaced, for who records them: a machine tells of every link
// that it joins, and hears whether somebody wants to see what crosses it.

#ifndef WEFT_SC_MODELS_BOUNDARY_H
#define WEFT_SC_MODELS_BOUNDARY_H

#include <cstdint>
#include <string>
#include <vector>

#include "sc_models/memory_target.h"
#include "sc_models/node_watch.h"
#include "tlm_interconnect/border/crossing.h"
#include "tlm_interconnect/border/flit_crossing.h"
#include "tlm_interconnect/border/packet_border.h"
#include "tlm_interconnect/ports/link.h"

namespace weft {

class SwitchModel;

/// The block at one end of a link, and which of its ports this is.
struct BlockEnd {
  enum class Kind : uint8_t { nmu, fabric_switch, router };
  static constexpr uint32_t kNextPort = ~0u;  ///< ports are numbered as they are joined

  Kind kind = Kind::nmu;
  std::string block;  ///< `nmu3`, `switch0_1`, `packet0_0.router5`
  uint32_t port = kNextPort;
  const SwitchModel* model = nullptr;  ///< of a switch
};

/// A link that is joined.
struct JoinedLink {
  std::vector<std::string>
      names;      ///< of both directions, as in the results; first the one from the initiator
  BlockEnd from;  ///< at the initiator's side
  BlockEnd to;
  fabric::LinkType* type = nullptr;                ///< `message` fidelity: rate and latency
  const fabric::PacketLinkTerms* terms = nullptr;  ///< `packet` fidelity, with what follows
  Ticks flit_time = 0;
  Ticks cycle = 0;  ///< of the network's clock
  uint32_t virtual_networks = 1;
};

class BoundaryListener {
 public:
  virtual ~BoundaryListener() = default;
  /// Who sees the messages that cross the link; empty: nobody wants to. Called once a link, while the machine
  /// is built.
  virtual fabric::CrossingWatch watch(const JoinedLink& link) = 0;
  /// .. the flits and credits.
  virtual fabric::FlitWatch watch_packets(const JoinedLink& link) = 0;
  /// Who sees what passes between an NMU and whoever sends by it. `forward`: into the NMU; of what it
  /// delivers `first` is now. Called once an NMU, before its links are joined.
  virtual fabric::CrossingWatch watch_messages(const BlockEnd& /*nmu*/) { return {}; }
  /// Who sees the accesses to a memory; empty: nobody. Called once a memory.
  virtual MemoryTarget::AccessWatch watch_accesses(const MemoryTarget& /*memory*/) { return {}; }
  /// Who sees the nodes of an NPU, `npu3`; null: nobody. Called once an NPU.
  virtual NodeWatch* watch_nodes(const std::string& /*npu*/) { return nullptr; }
  /// Of an NPU that watch_nodes() wants to see: its model tells nothing.
  virtual void no_nodes(const std::string& /*npu*/) {}
};

}  // namespace weft

#endif
