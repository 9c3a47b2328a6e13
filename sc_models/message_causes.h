// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the fabric's modules tell the causal log (insight/causal_log.h) of messages.

#ifndef WEFT_SC_MODELS_MESSAGE_CAUSES_H
#define WEFT_SC_MODELS_MESSAGE_CAUSES_H

#include <memory>
#include <string>
#include <vector>

#include "insight/causal_log.h"
#include "sc_models/packet_hops.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft {

/// Activity::what of a message.
uint32_t cause_stream(const fabric::Packet& packet);

/// Tells the log of every message on a link, and another observer, too.
class LinkCauses final : public fabric::LinkObserver {
 public:
  /// `other`: null, or who observes the link besides.
  LinkCauses(insight::CausalLog& log, const std::string& name, std::string link_class, LinkObserver* other);
  void occupied(const Use& use) override;

 private:
  insight::CausalLog& log_;
  const uint32_t link_;
  LinkObserver* const other_;
};

/// A message has crossed a packet network. `link`: its routers and interfaces, as a link of the log. `hops`:
/// of the packet that completed the message.
void tell_network(insight::CausalLog& log, const fabric::Packet& packet, fabric::PacketRef ref, uint32_t link,
                  const NetworkPassage& passage, const std::vector<PacketHop>& hops);

}  // namespace weft

#endif
