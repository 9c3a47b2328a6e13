// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the fabric's modules tell the causal log (insight/causal_log.h) of messages.

#ifndef WEFT_SC_MODELS_MESSAGE_CAUSES_H
#define WEFT_SC_MODELS_MESSAGE_CAUSES_H

#include <memory>
#include <string>

#include "insight/causal_log.h"
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

/// A message has crossed a packet network in [submitted, at]: alone it would have taken `latency` and
/// `serialise`. `link`: the network, as a link of the log.
void tell_network(insight::CausalLog& log, const fabric::Packet& packet, fabric::PacketRef ref, uint32_t link,
                  Picoseconds submitted, Picoseconds at, Picoseconds latency, Picoseconds serialise);

}  // namespace weft

#endif
