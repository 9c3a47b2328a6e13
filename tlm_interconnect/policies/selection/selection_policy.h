// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which of several permitted outputs a head takes. One object a router: it may keep state. Kernel-free.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_SELECTION_POLICY_H
#define WEFT_TLM_INTERCONNECT_POLICIES_SELECTION_SELECTION_POLICY_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm_interconnect/packet/random.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"

namespace weft::packet {

/// What a selection may look at in its own router, now.
class OutputView {
 public:
  /// Credits of the VCs in `vc_mask` that no packet holds; 0 if all are held.
  virtual uint32_t free_credits(uint32_t port, VcMask vc_mask) = 0;

 protected:
  ~OutputView() = default;
};

class SelectionPolicy {
 public:
  virtual ~SelectionPolicy() = default;
  /// Index of the one taken; called only with two or more candidates.
  virtual uint32_t select(const RouteQuery& query, const std::vector<RouteCandidate>& candidates,
                          Random& random, OutputView& outputs) = 0;
  /// True: the answer depends on the query and the candidates alone.
  virtual bool certain() const { return false; }
  /// True: where there is an escape route, others are taken only with credits, and as long as none has any
  /// the first escape is the answer and nothing is drawn.
  virtual bool escapes_without_credits() const { return false; }
};

/// By name from the registry table; throws UserError for an unknown one.
std::unique_ptr<SelectionPolicy> make_selection_policy(const std::string& name);
std::vector<std::string> selection_policy_names();

}  // namespace weft::packet

#endif
