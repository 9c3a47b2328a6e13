// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One link of a packet network, as the causal log and its listener hear of it.

#ifndef WEFT_SC_MODELS_BURST_TELLER_H
#define WEFT_SC_MODELS_BURST_TELLER_H

#include "insight/causal_log.h"
#include "sc_models/link_report.h"
#include "sc_models/packet_hops.h"
#include "tlm_interconnect/packet/burst_watch.h"

namespace weft {

/// Tells a listener of the flits on one link, and notes the hops of its packets.
class BurstTeller final : public packet::BurstWatch {
 public:
  /// `hop`: latency and flit time of the link. `hops`: null, or where they are noted.
  BurstTeller(insight::CausalLog& log, const LinkReport& link, uint32_t flit_bytes, PacketHop hop,
              PacketHops* hops);
  void sent(const packet::SentBurst& burst) override;

 private:
  void tell(const packet::SentBurst& burst);

  insight::ActivityListener* const listener_;  ///< null: nobody listens
  PacketHop hop_;                              ///< without the time
  PacketHops* const hops_;
  const uint32_t flit_bytes_;
  uint64_t flits_ = 0;
};

}  // namespace weft

#endif
