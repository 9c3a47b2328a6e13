// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Stands for the two neighbours on a Ring that an NMU has and that are not built, at `message` fidelity. What
// the NMU sends upwards comes from below to the NMU that stands for its receiver, as MessageImages says, and
// the other way round. A Ring's NPUs are all alike, so the links of one NMU tell those of all. Messages must
// end at the neighbour: nobody here passes them on.

#ifndef WEFT_TLM_INTERCONNECT_FABRIC_NEIGHBOUR_MIRROR_H
#define WEFT_TLM_INTERCONNECT_FABRIC_NEIGHBOUR_MIRROR_H

#include <memory>
#include <unordered_map>

#include "tlm_interconnect/fabric/message_images.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

class NeighbourMirror : public sc_core::sc_module {
 public:
  /// The mirrors of one dimension, by their NMUs' ranks.
  using Line = std::unordered_map<uint32_t, NeighbourMirror*>;

  /// The neighbours that it stands for.
  struct Sides {
    bool above = true;
    bool below = true;
  };

  /// `line`: it joins these; null: the NMU stands for itself alone and must not send to these neighbours. All
  /// outlive it.
  NeighbourMirror(sc_core::sc_module_name name, uint32_t rank, const Sides& sides, Line* line,
                  const MessageImages& images, PacketPool& pool);

  /// What the NMU's ends of its links are joined to, if it stands for that side.
  fabric_target_socket& above() { return *above_; }
  fabric_initiator_socket& below() { return *below_; }

 private:
  class Side final : public FabricEndpoint {
   public:
    Side(NeighbourMirror& mirror, bool up) : mirror_(mirror), up_(up) {}
    void receive(const Transfer& transfer) override { mirror_.pass(transfer, up_); }

   private:
    NeighbourMirror& mirror_;
    const bool up_;  ///< what comes here was sent upwards
  };
  void pass(const Transfer& transfer, bool up);

  const uint32_t rank_;
  const Line* const line_;
  const MessageImages& images_;
  PacketPool& pool_;
  Side up_{*this, true};
  Side down_{*this, false};
  std::unique_ptr<fabric_target_socket> above_;
  std::unique_ptr<fabric_initiator_socket> below_;
};

}  // namespace weft::fabric

#endif
