// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// DCQCN at one network interface, kernel-free. ReactionPoint: the flows it sends (one for each destination),
// of which those that have been notified of congestion are held back. NotificationPoint: the flows it
// receives, and when their senders are told.
//
// Everything is a function of absolute times. Notifications are told before they arrive, at the latest when
// the sender has not yet decided anything at their time.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_REACTION_POINT_H
#define WEFT_TLM_INTERCONNECT_PACKET_REACTION_POINT_H

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tlm_interconnect/packet/dcqcn_rate.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

/// What a flow has suffered.
struct FlowRecord {
  uint64_t notifications = 0;
  uint64_t lowest_rate = ~uint64_t{0};  ///< bits a second
  Ticks below_line = 0;                 ///< time at less than line rate
};

class ReactionPoint {
 public:
  /// `cycle`: of the interface, on which its packets begin; `line_rate` in bits a second. `config` outlives
  /// it.
  ReactionPoint(const DcqcnConfig& config, uint64_t line_rate, uint32_t flit_bytes, Ticks cycle);

  /// A notification for the flow to `destination` arrives at `at`; it is `now`.
  void notify(uint32_t destination, Ticks at, Ticks now);
  /// No flow is held back, or will be by what is known.
  bool free() const { return flows_.empty(); }
  /// The next packet to `destination`, at cycle `t` with its first flit at `start`: `t`, it may begin; later:
  /// when to ask again. Cycles must not go back in time.
  Ticks may_begin(uint32_t destination, Ticks t, Ticks start);
  /// It begins, and has `flits` flits.
  void begin(uint32_t destination, Ticks t, Ticks start, uint32_t flits);

  /// Bits a second at `t`.
  uint64_t rate(uint32_t destination, Ticks t);
  /// By destination: every flow that was ever held back, up to `t`.
  std::map<uint32_t, FlowRecord> records(Ticks t) const;
  /// No flow is held back any more; what has been recorded up to `t` stays.
  void restart(Ticks t);

 private:
  struct Flow {
    std::vector<Ticks> coming;  ///< notifications, in order of time
    std::optional<DcqcnRate> rate;
    Ticks since = 0;         ///< when it was first held back
    Ticks last = kNever;     ///< when the packet before began
    uint64_t last_bits = 0;  ///< what it was on the wire
  };
  void update(Flow& flow, FlowRecord& record, Ticks t) const;
  static void close(Flow& flow, FlowRecord& record);
  Ticks due(const Flow& flow) const;
  void sweep(Ticks t);

  const DcqcnConfig& config_;
  const uint64_t line_rate_;
  const uint32_t flit_bytes_;
  const Ticks cycle_;
  std::unordered_map<uint32_t, Flow> flows_;
  std::map<uint32_t, FlowRecord> records_;
  size_t sweep_at_ = 16;
};

class NotificationPoint {
 public:
  explicit NotificationPoint(const DcqcnConfig& config) : interval_(config.cnp_interval) {}
  /// A marked packet of `sender` arrives at `at`, not before the one before it: true, it is to be told.
  bool notifies(uint32_t sender, Ticks at);
  uint64_t sent() const { return sent_; }
  /// No sender has been told yet.
  void restart() { last_.clear(); }

 private:
  const Ticks interval_;
  std::unordered_map<uint32_t, Ticks> last_;
  size_t sweep_at_ = 16;
  uint64_t sent_ = 0;
};

}  // namespace weft::packet

#endif
