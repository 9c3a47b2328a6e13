// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The signals of one direction of a link, whatever sends on it: a link of whole messages (an observer of
// fabric::Link), or a router or network interface that sends flits.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_LINK_SIGNALS_H
#define WEFT_TLM_INTERCONNECT_PORTS_LINK_SIGNALS_H

#include <cstdint>
#include <string>

#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/packet_pool.h"
#include "vcd/probe_hub.h"

namespace weft::fabric {

/// Why what is ready does not leave: the values of the signals `.stall`.
enum class Stall : uint8_t {
  none,         ///< it leaves, or nothing is ready
  busy,         ///< something else is being sent
  arbitration,  ///< another had its turn, or the way to the output is taken
  paused,       ///< by priority flow control
  credits,      ///< no room at the other end
  vc,           ///< no virtual channel is free
  rate          ///< the sender's congestion control holds it back
};
const vcd::EnumTable& stall_names();

/// Whether something is being sent. A sender that stays busy carries fractions of a picosecond: what it sends
/// may begin in the last picosecond of what it sent before, and then the end of that is none.
class BusyBit {
 public:
  BusyBit() = default;
  explicit BusyBit(const vcd::Probe& probe);

  const vcd::Probe& probe() const { return probe_; }
  /// In order; times are those of the last call or later.
  void use(Picoseconds start, Picoseconds end);

 private:
  vcd::Probe probe_;
  Picoseconds end_ = 0;
};

class LinkSignals final : public LinkObserver {
 public:
  /// Of a link of whole messages. `other`: who observed the link before, and goes on to hear of it; may be
  /// null.
  LinkSignals(vcd::ProbeHub& probes, const std::string& name, LinkObserver* other);
  /// Of one of flits. `messages`: whose handles the ids of bursts are; outlives it. `busy`: that of the
  /// output that sends on it, where it has one. `stalls`: whether it will be told of them.
  enum class Stalls : uint8_t { told, unknown };
  LinkSignals(vcd::ProbeHub& probes, const std::string& name, const PacketPool* messages,
              const BusyBit& busy = BusyBit(), Stalls stalls = Stalls::told);
  /// True if any of them is.
  bool wanted() const {
    return busy_.probe() || bytes_ || flow_ || rate_.always || rate_.while_set || stall_ || queue_;
  }

  /// A whole message. The rate of each is its bytes over its time.
  void occupied(const Use& use) override;

  /// Flits of one packet.
  struct Burst {
    Picoseconds start = 0;
    Picoseconds end = 0;
    uint64_t bytes = 0;
    double rate = 0;     ///< bytes per second
    uint64_t id = 0;     ///< of the message: its handle
    bool begins = true;  ///< with the packet's first flit
    bool ends = true;    ///< .. its last
  };
  void carried(const Burst& burst);
  /// From `t` on; calls must not go back in time.
  void stalled(Picoseconds t, Stall why) {
    if (last_ == why) return;
    last_ = why;
    stall_.set(t, why);
  }

 private:
  LinkSignals(vcd::ProbeHub& probes, const std::string& name, LinkObserver* other, const PacketPool* messages,
              const BusyBit& busy, Stalls stalls);
  void wait(Picoseconds ready, Picoseconds start);

  BusyBit busy_;
  vcd::Probe bytes_;
  vcd::Probe flow_;
  vcd::ProbeHub::Gated rate_;
  vcd::Probe stall_;
  vcd::Probe queue_;
  LinkObserver* const other_;
  const PacketPool* const messages_;
  uint64_t total_ = 0;
  uint64_t unrated_ = 0;       ///< bytes that have taken no whole picosecond so far
  Picoseconds end_ = 0;        ///< of what was sent last
  Picoseconds stall_end_ = 0;  ///< of the latest wait
  double last_rate_ = 0;       ///< of a burst
  uint64_t last_flow_ = ~uint64_t{0};
  Stall last_ = Stall::none;
};

}  // namespace weft::fabric

#endif
