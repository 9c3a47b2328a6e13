// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// In which order the channels of a communicator pass its members. Every ring and tree has an order of its
// own, so that together they use all NICs and all links of a node:
//
//  - A ring enters a node at the GPU of its NIC and leaves it at the last GPU of the node's order. The next
//    node passes its GPUs backwards, so that the message between them stays on one rail. With an odd number
//    of nodes the last crossing changes rails: it goes over the node's links first, as PXN does.
//  - Between fully connected GPUs, and on the cube mesh, a channel takes the cycle whose links have the least
//    to carry so far. Behind a switch a channel starts one GPU further than the one before it.
//  - A tree is a chain through each node, whose heads form a binary tree over the nodes; half of the channels
//    have the complementary one (NVIDIA/nccl, src/graph/trees.cc).

#ifndef WEFT_WORKLOAD_PROGRAMS_CHANNEL_ORDERS_H
#define WEFT_WORKLOAD_PROGRAMS_CHANNEL_ORDERS_H

#include <cstdint>
#include <vector>

#include "workload/library/communication_library.h"

namespace weft::library {

/// The members of a communicator.
struct Team {
  std::vector<uint32_t> npus;       ///< by member, where it is on the machine
  std::vector<uint32_t> positions;  ///< by member: the shard that is its own
  uint32_t root = 0;                ///< member; of broadcast, reduce, gather, scatter
};

class ChannelOrders {
 public:
  ChannelOrders(const LibraryMachine& machine, const Team& team);

  /// All members, as ring `channel` passes them. Ask for the channels in ascending order.
  std::vector<uint32_t> ring(uint32_t channel);

  struct Tree {
    static constexpr uint32_t kNone = ~0u;
    std::vector<uint32_t> parent;                 ///< by member; kNone: the root
    std::vector<std::vector<uint32_t>> children;  ///< by member
    std::vector<uint32_t> top_down;               ///< all members, parents before their children
    uint32_t depth = 0;                           ///< hops from the root to the farthest member
  };
  Tree tree(uint32_t channel);

  /// Nodes with members of the communicator, and their members in the order of their places.
  const std::vector<std::vector<uint32_t>>& nodes() const { return nodes_; }
  uint32_t local(uint32_t member) const { return local_[member]; }
  uint32_t node(uint32_t member) const { return node_[member]; }
  /// NICs of a node, at most one a GPU.
  uint32_t nics() const { return nics_; }

 private:
  void find_entries();
  uint32_t entry(uint32_t node, uint32_t channel) const;
  uint32_t exit(uint32_t channel, uint32_t first) const;
  /// The places of a node (0 .. gpus_per_node - 1) as the channel passes them.
  std::vector<uint32_t> cycle(uint32_t channel);
  std::vector<uint32_t> balanced_cycle(uint32_t channel, uint32_t first);
  /// The node's members along the cycle, from the channel's entry on, or backwards to it.
  std::vector<uint32_t> members_of(uint32_t node, uint32_t channel, std::vector<uint32_t> cycle,
                                   bool backwards) const;

  const LibraryMachine& machine_;
  uint32_t gpus_;         ///< places of a node
  uint32_t nics_;         ///< of a node, at most one a place
  uint32_t gpus_of_nic_;  ///< where NICs do not divide the GPUs, some of these have none
  std::vector<std::vector<uint32_t>> nodes_;
  std::vector<uint32_t> local_, node_;
  std::vector<bool> used_;  ///< places at which some node has a member
  /// By node: of each NIC that has some, the places beside it at which the node has a member.
  std::vector<std::vector<std::vector<uint32_t>>> entries_;
  std::vector<uint32_t> capacity_;  ///< links from place to place; empty: all alike, behind a switch
  std::vector<uint32_t> load_;      ///< rings that use them
};

}  // namespace weft::library

#endif
