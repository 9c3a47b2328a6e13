// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The switches of all lines of a Switch dimension where few NPUs stand for many, at `message` fidelity: one
// crossbar with a port for every NPU that is built. Nothing inside a crossbar blocks, so its outputs know
// nothing of each other, and an output serves one NPU whichever switch it is of.

#ifndef WEFT_SC_MODELS_FOLDED_CROSSBAR_H
#define WEFT_SC_MODELS_FOLDED_CROSSBAR_H

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "sc_models/crossbar.h"
#include "tlm_interconnect/fabric/message_images.h"

namespace weft {

/// The ways to the NPUs that are built. Links are named as those of the lines' own switches.
class FoldedWays final : public SwitchWays {
 public:
  /// Port i leads to rank `built[i]`. `geometry` outlives it. `machine`: begins the names of switches.
  FoldedWays(const Geometry& geometry, uint32_t dimension, std::vector<uint32_t> built, std::string machine);

  uint32_t output(const fabric::Packet& packet) const override { return port(packet.destination); }
  uint32_t turn(uint32_t, const fabric::Packet& packet) const override { return packet.source; }
  SwitchLink link(uint32_t port) const override { return link_to(built_[port]); }

  uint32_t port(uint32_t built) const { return ports_.at(built); }
  bool leads_to(uint32_t rank) const { return ports_.count(rank) != 0; }
  /// The link that leaves for any rank. Its name is whole, not only what stands behind a switch's.
  SwitchLink link_to(uint32_t rank) const;
  /// The ranks in the order in which the lines' own switches would report their links.
  void for_each_rank(const std::function<void(uint32_t)>& visit) const;

 private:
  const Geometry& geometry_;
  const uint32_t dimension_;
  const std::vector<uint32_t> built_;
  const std::string machine_;
  std::unordered_map<uint32_t, uint32_t> ports_;  ///< by rank
};

class FoldedCrossbar final : public Crossbar {
 public:
  /// `images` outlives it. `stands_for_others(rank)`: what that NPU sends to one that is not built becomes
  /// its image.
  FoldedCrossbar(sc_core::sc_module_name name, SwitchContext context, std::shared_ptr<const FoldedWays> ways,
                 const fabric::MessageImages& images, std::function<bool(uint32_t)> stands_for_others);

  /// Of the ranks that are built.
  void for_each_link(const LinkVisitor& visit) const override;
  /// Of all ranks: what leaves for one is what leaves for the rank that stands for it.
  void for_each_link_as(const std::function<uint32_t(uint32_t)>& built, const LinkVisitor& visit) const;

 private:
  void arrive(const Arrival& arrival) override;
  LinkReport report_as(uint32_t rank, uint32_t built) const;

  const std::shared_ptr<const FoldedWays> folded_ways_;
  const fabric::MessageImages& images_;
  const std::function<bool(uint32_t)> stands_for_others_;
};

}  // namespace weft

#endif
