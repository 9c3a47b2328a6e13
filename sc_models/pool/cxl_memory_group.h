// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory group: serves the loads of all NPUs in turns, chunk by chunk, and takes what is stored. With
// `split: fluid` and a pool that folds, one module stands for all groups. With `group_memory` a memory model
// serves in its place: loads read it chunk by chunk, and stores end when it has written them.

#ifndef WEFT_SC_MODELS_POOL_CXL_MEMORY_GROUP_H
#define WEFT_SC_MODELS_POOL_CXL_MEMORY_GROUP_H

#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "sc_models/component.h"
#include "sc_models/message_causes.h"
#include "sc_models/pool/group_memory.h"
#include "sc_models/pool/pool_access_state.h"
#include "sc_models/pool/pool_packets.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

class CxlMemoryGroup final : public sc_core::sc_module, public Component, private PoolNode, private Wakeable {
 public:
  /// One end of a link to a switch.
  class Port final : public fabric::FabricEndpoint {
   public:
    void receive(const fabric::Transfer& transfer) override { owner->arrive(number, transfer); }

    CxlMemoryGroup* owner = nullptr;
    uint32_t number = 0;
    fabric::Link link;
    fabric::Link* shared = nullptr;  ///< of another module, in place of `link`
    fabric::Link& sends() { return shared != nullptr ? *shared : link; }
    const fabric::Link& sends() const { return shared != nullptr ? *shared : link; }
    std::unique_ptr<fabric::fabric_target_socket> target;
    // At packet fidelity:
    uint64_t backlog = 0;  ///< bytes that have not left
    uint64_t served = 0;   ///< when it was last served
    uint64_t reading = 0;  ///< bytes that its memory reads for this link
    /// Chunks of stores that NPUs have for this link, by their numbers: first those with which NPUs begin.
    std::multimap<uint64_t, fabric::PacketRef> asked;
    uint64_t granted = 0;       ///< bytes of those that are on their way
    uint64_t most_granted = 0;  ///< .. from which on no more are asked to come
    Picoseconds due = 0;        ///< when the link has carried those that may come, if it is never idle
    Picoseconds ahead = 0;      ///< so much earlier they may begin
    double picoseconds_a_byte = 0;
    Picoseconds time_of(uint64_t bytes) const {
      return static_cast<Picoseconds>(static_cast<double>(bytes) * picoseconds_a_byte);
    }
  };

  /// `types`: of the links, by port of the layout's node; `shared`: those of other modules, or null;
  /// `service`: of the group itself.
  CxlMemoryGroup(sc_core::sc_module_name name, uint32_t group, PoolContext& context,
                 const std::vector<fabric::LinkType*>& types, const std::vector<fabric::Link*>& shared,
                 fabric::LinkType& service);

  std::vector<Port>& ports() { return ports_; }
  const std::vector<Port>& ports() const { return ports_; }

  /// A chunk of a tensor that is here, with `split: whole`.
  struct Chunk {
    uint32_t number = 0;  ///< in the tensor
    uint32_t way = 0;
  };
  /// The request of a load arrives at `at` (>= now). `share`: what of the tensor is here, and goes one way.
  void load(PoolTransfer& transfer, Picoseconds at, const pool::PoolLayout::Share& share);
  /// .. with `split: whole`: its chunks, ascending.
  void load(PoolTransfer& transfer, Picoseconds at, std::vector<Chunk> chunks);
  /// .. of a gather_load with `split: whole`: the numbers of its PoolTransfer::chunks.
  void gather(PoolTransfer& transfer, Picoseconds at, std::vector<uint32_t> chunks);

  // Component
  void count(Counters& counters) const override;
  std::string stall_text() const override;
  /// Bytes that it has given out and taken.
  uint64_t bytes_loaded() const { return memory_ != nullptr ? loaded_ : read_.bytes(); }
  uint64_t bytes_stored() const { return memory_ != nullptr ? stored_ : write_.bytes(); }
  /// Null: it has none.
  const GroupMemory* memory() const { return memory_.get(); }

 private:
  struct Load {
    uint32_t transfer = 0;
    uint32_t npu = 0;
    bool all = false;  ///< a gather_load
    // fluid:
    uint32_t way = 0;
    uint64_t offset = 0;
    uint64_t left = 0;
    uint32_t rounds = 0;
    // whole:
    std::vector<Chunk> chunks;  ///< until the request is here
    size_t unserved = 0;
  };
  struct Turn {
    uint64_t key = 0;  ///< the chunk's number, from where the others were when its request came
    uint32_t npu = 0;
    uint32_t load = 0;
    Chunk chunk;
    bool operator>(const Turn& o) const {
      return key != o.key ? key > o.key : npu != o.npu ? npu > o.npu : chunk.number > o.chunk.number;
    }
  };
  struct Stored {
    fabric::PacketRef packet = fabric::kNoPacket;
  };

  bool whole() const { return context_.pool.split == PoolSplit::whole; }
  void arrive(uint32_t port, const fabric::Transfer& transfer) {
    came(port, transfer.packet, transfer.first + transfer.flit_time);
  }
  // PoolNode
  void came(uint32_t port, fabric::PacketRef message, Picoseconds at) override;
  void left(uint32_t port, const fabric::Packet& message, Picoseconds at) override;
  void asked(uint32_t port, fabric::PacketRef message) override;

  void activate(Picoseconds now) override;
  /// When it goes on, as far as time alone decides.
  Picoseconds grant(Port& port, Picoseconds now);
  void take(fabric::PacketRef ref, Picoseconds at);
  void write(fabric::PacketRef ref, Picoseconds now);
  void memory_done(fabric::PacketRef ref, Picoseconds at);
  /// A chunk or a round, if the service is free and a port has something to send.
  bool serve(Picoseconds now);
  void serve_round(Picoseconds now, uint32_t port);
  void serve_chunk(Picoseconds now, uint32_t port);
  /// When `bytes` have been served, and have the link.
  fabric::Link::Slot serve_bytes(Picoseconds now, uint64_t bytes, Port& port);
  bool has_work(uint32_t port) const { return whole() ? !turns_[port].empty() : !waiting_[port].empty(); }
  static constexpr uint32_t kNone = ~0u;
  /// The port with the next turn: the one that is free first, so that no link is idle while another has a
  /// queue; among equals the one with the oldest chunk. kNone: there is none, or none that has room.
  uint32_t next_port() const;
  bool before(uint32_t a, uint32_t b) const;
  /// On its way to the link, by the memory if there is one.
  void send(Load& load, uint64_t offset, uint64_t bytes, uint32_t chunk, uint32_t way,
            const fabric::Link::Slot& slot, Port& port);
  void leave(fabric::PacketRef ref, const fabric::Link::Slot& slot, Port& port);
  unsigned char* bytes_of(fabric::PacketRef ref);
  uint32_t port_of(uint32_t way) const;
  Picoseconds service_free() const;
  uint32_t add(Load load);

  uint32_t group_;
  uint32_t node_;
  PoolContext& context_;
  bool hop_;  ///< the group's service is a hop before its links
  std::vector<Port> ports_;
  fabric::Link read_;   ///< the service, of loads
  fabric::Link write_;  ///< .. of stores
  std::vector<Load> loads_;
  std::vector<uint32_t> free_;                       ///< numbers in loads_
  fabric::TimedQueue<uint32_t, uint64_t> requests_;  ///< on their way
  std::vector<std::vector<uint32_t>> waiting_;       ///< fluid, by port
  /// whole: by port, the chunks that wait.
  using Turns = std::priority_queue<Turn, std::vector<Turn>, std::greater<Turn>>;
  std::vector<Turns> turns_;
  size_t turns_waiting_ = 0;
  uint64_t turn_ = 0;
  fabric::TimedQueue<Stored, uint64_t> stores_;
  struct Departure {
    uint32_t port = 0;
    uint64_t bytes = 0;
  };
  fabric::TimedQueue<Departure, uint64_t> departures_;   ///< at packet fidelity
  fabric::TimedQueue<Departure, uint64_t> grants_over_;  ///< .. granted chunks that have come
  uint64_t rounds_ = 0;
  std::unique_ptr<GroupMemory> memory_;            ///< in place of read_ and write_; null: there is none
  std::map<fabric::PacketRef, uint32_t> reading_;  ///< messages whose bytes are read, with their ports
  size_t writing_ = 0;                             ///< .. writes
  uint64_t read_bytes_ = 0;                        ///< of reading_
  fabric::TimedQueue<Stored, uint64_t> fetched_;   ///< that have been read
  uint64_t loaded_ = 0;
  uint64_t stored_ = 0;
  uint32_t arrivals_ = 0;
  uint64_t activations_ = 0;
  struct Probes {
    vcd::Probe requests, data, loaded, stored;
    struct OfPort {
      vcd::Probe queue, data;
      vcd::Probe credits;  ///< at packet fidelity
    };
    std::vector<OfPort> ports;
    uint64_t loaded_bytes = 0;
    uint64_t stored_bytes = 0;
  };
  void declare_signals(vcd::ProbeHub& probes);
  void tell(Picoseconds now);
  void keep_causes();
  // Null: nobody asks.
  insight::CausalLog* log();
  insight::AccessPart* part(fabric::PacketRef ref);
  std::unique_ptr<Probes> probes_;                   ///< null: nobody looks
  std::vector<std::unique_ptr<LinkCauses>> causes_;  ///< of its service
  insight::AccessPart serving_;                      ///< of the chunk or round that it serves
};

}  // namespace weft

#endif
