// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory pool's packet network, and what its modules do with it: a message leaves a node of the layout
// by a port and comes to a node by a port. From a group to an NPU and back it goes through the routers; for a
// sum, or copies, it goes to the switch at the other end of the link, whose module sends on what results.

#ifndef WEFT_SC_MODELS_POOL_POOL_PACKETS_H
#define WEFT_SC_MODELS_POOL_POOL_PACKETS_H

#include <memory>
#include <string>
#include <vector>

#include "sc_models/burst_teller.h"
#include "sc_models/component.h"
#include "sc_models/network_joiner.h"
#include "sc_models/pool/pool_network.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/protocol/packet_pool.h"
#include "workload/pool/pool_layout.h"

namespace weft {

/// A node's module. Calls may come before `at`, never after.
class PoolNode {
 public:
  virtual ~PoolNode() = default;
  /// The last flit of a message is here at `at`. The reference is the node's.
  virtual void came(uint32_t port, fabric::PacketRef message, Picoseconds at) = 0;
  /// The last flit of a message that the node has sent leaves it.
  virtual void left(uint32_t port, const fabric::Packet& message, Picoseconds at) = 0;
  /// The other end of the link has room for another contribution to a sum of these members.
  virtual void credited(uint32_t port, uint32_t set, Picoseconds at) { (void)port, (void)set, (void)at; }
  // Stores: an NPU has a chunk for the group, by a link of the group; the NPU may send it.
  virtual void asked(uint32_t port, fabric::PacketRef message) { (void)port, (void)message; }
  virtual void granted(fabric::PacketRef message) { (void)message; }
};

class PoolCauses;

class PoolPackets final : public Component {
 public:
  /// `host`: the machine's network that carries the pool, with PoolGuests; null: builds a network below the
  /// module that is being constructed. All outlive it. `messages`: where the messages are. `cuts`: what
  /// stands in the links of an own network, and in the place of its routers (`pool.NAME`); null: nothing.
  PoolPackets(const Config& config, const pool::PoolLayout& layout, fabric::PacketPool& messages,
              packet::PacketNetwork* host, LinkCuts* cuts);

  void record(vcd::ProbeHub& probes) {
    if (own_ != nullptr) own_->record(probes);
  }
  /// Tells the causal log of the way of messages, link by link. `hops`: as for MemoryPool::follow_packets().
  /// False: nobody follows packets.
  bool follow(PoolCauses& causes, PacketHops* hops);
  /// .. over one of the pool's own links.
  void watch(const LinkReport& link);
  void attach(uint32_t node, PoolNode& module) { modules_[node] = &module; }

  /// From `at` (>= now, in order for each port) on. Where it goes is the message's: PoolHeader.
  void send(uint32_t node, uint32_t port, fabric::PacketRef message, Picoseconds at);
  /// .. a credit to the other end; it takes the link's latency, and none of its bandwidth.
  void credit(uint32_t node, uint32_t port, uint32_t set);

  /// A chunk of a store may go to its group when the group says so: grant(). Both take no time.
  void ask(fabric::PacketRef message);
  void grant(fabric::PacketRef message);
  /// The group's link by which a chunk of a store comes.
  uint32_t group_port(const fabric::Packet& message) const;

  /// Bytes of messages that have left a node by a port.
  uint64_t payload(uint32_t node, uint32_t port) const;
  /// The link that leaves a node by a port is one of the machine.
  bool shared(uint32_t node, uint32_t port) const { return ways_->shared(node, port); }
  /// .. without its names.
  LinkReport report(uint32_t node, uint32_t port) const;
  const packet::PacketNetwork& network() const { return *network_; }

  // Component
  void count(Counters& counters) const override;
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;

 private:
  class Joiner;
  struct End final : packet::PacketSink {
    bool takes_trains() const override { return true; }
    void train_arrives(const packet::TrainArrivals&) override {}
    void packet_arrives(const fabric::Packet&, uint32_t, Ticks) override {}
    void message_sent(const packet::Message& message, Picoseconds at) override;
    void message_arrives(const packet::Message& message, Picoseconds at) override;
    PoolPackets* owner = nullptr;
    uint32_t node = 0;
    uint32_t port = 0;
  };
  /// At an interface that an NPU's NMU has, too: tells the pool's messages by their virtual network.
  struct SharedEnd final : packet::PacketSink {
    SharedEnd(packet::PacketSink* of_nmu, End& of_pool, uint32_t pool_network)
        : nmu(of_nmu), pool(of_pool), network(pool_network) {}
    bool takes_trains() const override { return nmu == nullptr || nmu->takes_trains(); }
    void train_arrives(const packet::TrainArrivals& train) override;
    void packet_arrives(const fabric::Packet& packet, uint32_t flits, Ticks at) override;
    void flits_arrive(uint32_t flits, Ticks first, Ticks flit_time) override;
    void message_sent(const packet::Message& message, Picoseconds at) override;
    void message_arrives(const packet::Message& message, Picoseconds at) override;
    packet::PacketSink* const nmu;  ///< null: nobody
    End& pool;
    const uint32_t network;
  };
  void join(uint32_t node, uint32_t port);
  void tell_passage(const packet::Message& message, Picoseconds at);
  const packet::LinkTiming& sent_by(uint32_t node, uint32_t port) const;

  const Config& config_;
  const pool::PoolLayout& layout_;
  fabric::PacketPool& messages_;
  std::shared_ptr<const PoolWays> ways_;
  std::unique_ptr<packet::PacketNetwork> own_;
  packet::PacketNetwork* network_;
  const uint32_t virtual_network_;
  std::vector<End> ends_;  ///< by rank; sized once: sinks are known by address
  std::vector<std::unique_ptr<SharedEnd>> shared_ends_;
  std::vector<PoolNode*> modules_;
  RouterBlocks blocks_;
  // For the causal log:
  PoolCauses* causes_ = nullptr;  ///< null: nobody asks
  PacketHops* hops_ = nullptr;    ///< null: nobody follows packets
  PacketHops own_hops_;
  uint32_t routers_link_ = 0;  ///< of the log: routers and interfaces
  std::vector<std::unique_ptr<BurstTeller>> tellers_;
};

}  // namespace weft

#endif
