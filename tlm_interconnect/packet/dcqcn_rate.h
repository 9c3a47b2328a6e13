// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The rate of one flow at its sender: the reaction point of DCQCN (Zhu et al., "Congestion Control for
// Large-Scale RDMA Deployments", SIGCOMM 2015, section 5), whose increases are those of IEEE 802.1Qau.
// Kernel-free, in integers: bits a second, and alpha in units of 2^-30.
//
//   notification:  RT = RC; RC = (1 - alpha/2) RC; alpha = (1 - g) alpha + g; both increase counts back to 0
//   alpha_timer without one:  alpha = (1 - g) alpha
//   increase, every rate_timer (count T) and every byte_counter bytes (count B):
//     max(T, B) <= fast_recovery: nothing; min(T, B) > fast_recovery: RT += rate_hai; else RT += rate_ai
//     RC = (RT + RC) / 2
//
// The object stands for a flow that is held back: it begins with the first notification, and when the rate is
// back at the line's it is released and to be dropped, as rate limiters are.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_DCQCN_RATE_H
#define WEFT_TLM_INTERCONNECT_PACKET_DCQCN_RATE_H

#include <cstdint>

#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

class DcqcnRate {
 public:
  static constexpr uint64_t kOne = uint64_t{1} << 30;  ///< of alpha

  /// A flow at line rate gets its first notification at `t`. `config` outlives the object.
  DcqcnRate(const DcqcnConfig& config, uint64_t line_rate, Ticks t);

  /// Timers up to and including `t`. Nothing may go back in time.
  void advance(Ticks t);
  /// A notification at `t`, after the timers of that time.
  void notify(Ticks t);
  /// `bytes` of the flow have begun to be sent at `t`.
  void send(Ticks t, uint64_t bytes);

  uint64_t rate() const { return current_; }
  uint64_t target() const { return target_; }
  uint64_t alpha() const { return alpha_; }
  uint32_t timer_count() const { return timer_count_; }
  uint32_t byte_count() const { return byte_count_; }
  bool released() const { return released_ != kNever; }
  Ticks released_at() const { return released_; }
  uint64_t lowest() const { return lowest_; }
  /// Next time at which the rate rises by itself.
  Ticks next_increase() const { return next_increase_; }

 private:
  void cut(Ticks t);
  void increase(Ticks t);

  const DcqcnConfig* config_;
  uint64_t line_;
  uint64_t current_;
  uint64_t target_;
  uint64_t lowest_;
  uint64_t alpha_ = kOne;
  uint64_t g_;
  uint64_t bytes_ = 0;  ///< since the last increase for bytes
  uint32_t timer_count_ = 0;
  uint32_t byte_count_ = 0;
  Ticks next_decay_ = 0;
  Ticks next_increase_ = 0;
  Ticks released_ = kNever;
};

}  // namespace weft::packet

#endif
