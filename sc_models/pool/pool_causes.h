// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a memory pool tells the causal log (insight/causal_log.h): the chunks of its accesses on their way
// from stage to stage. Links tell themselves of the parts on whose behalf they are used (LinkCauses); this
// knows which part a message is, and with which one an access ends.

#ifndef WEFT_SC_MODELS_POOL_POOL_CAUSES_H
#define WEFT_SC_MODELS_POOL_POOL_CAUSES_H

#include <deque>
#include <string>
#include <vector>

#include "insight/causal_log.h"
#include "sc_models/pool/pool_access_state.h"
#include "sc_models/pool/pool_flows.h"

namespace weft {

class PoolCauses {
 public:
  /// `name`: of the pool.
  PoolCauses(insight::CausalLog& log, const std::string& name, const pool::PoolLayout& layout);

  insight::CausalLog& log() { return log_; }

  /// `member` takes part from now on.
  void begins(PoolTransfer& transfer, PoolTransfer::Member& member);
  /// The request of a load is on its way in [now, at].
  void requested(PoolTransfer& transfer, Picoseconds now, Picoseconds at);

  /// Of a message. The reference stays good.
  insight::AccessPart& part(fabric::PacketRef message);
  /// `copy` goes on with what `message` is.
  void copied(fabric::PacketRef message, fabric::PacketRef copy);

  /// A message ends at `at`, in an NPU or in a group.
  void loaded(PoolTransfer::Member& member, fabric::PacketRef message, Picoseconds at);
  void stored(PoolTransfer& transfer, fabric::PacketRef message, Picoseconds at);
  /// The member hears of its end next.
  void answers(const PoolTransfer& transfer, const PoolTransfer::Member& member);

  /// At `analytical` fidelity: a flow ends, `latency` before its access. `uses`: when its rate was limited
  /// by what.
  void flowed(PoolTransfer& transfer, const std::vector<FlowUse>& uses, Picoseconds end, Picoseconds latency);

 private:
  insight::CausalLog& log_;
  const uint32_t requests_;          ///< links of the log
  std::vector<uint32_t> resources_;  ///< by resource of PoolFlows; made when needed
  uint32_t way_ = 0;                 ///< the way of flows
  const std::string name_;
  const pool::PoolLayout& layout_;
  std::deque<insight::AccessPart> parts_;  ///< by message
};

/// The links of a class would be improved together.
inline std::string pool_link_kind(const pool::PoolLayout::Class& links) {
  return "pool links " + links.name;
}

}  // namespace weft

#endif
