// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One direction of one link as the results name it.

#ifndef WEFT_SC_MODELS_LINK_REPORT_H
#define WEFT_SC_MODELS_LINK_REPORT_H

#include <cstdint>
#include <string>

#include "configs/types.h"
#include "tlm_interconnect/packet/flit_sender.h"
#include "tlm_interconnect/ports/link.h"

namespace weft {

struct LinkReport {
  std::string name;  ///< hierarchical, of the sending port
  std::string to;    ///< the module at the other side
  std::string kind;  ///< links that would be improved together; empty: those of the dimension
  uint32_t dimension = 0;
  Fidelity fidelity = Fidelity::message;  ///< what it carries, or carries it as
  const fabric::Link* link = nullptr;     ///< null at packet fidelity
  packet::FlitSender sender;              ///< at packet fidelity
  uint64_t bytes = 0;                     ///< packet fidelity: on the wire, headers and padding included
  uint64_t messages = 0;
  uint64_t packets = 0;  ///< packet fidelity
  uint64_t marked = 0;   ///< packets of these that ECN has marked at this link
  Picoseconds busy = 0;
  Picoseconds queued = 0;  ///< time that messages (packet fidelity: packets) waited for it, summed
  // Priority flow control, at packet fidelity: of the sender.
  uint64_t pauses = 0;
  Picoseconds paused = 0;
  uint64_t overruns = 0;  ///< packets that found a full buffer without having been paused

  /// Messages do not pass it one by one: no sockets are joined there.
  bool direct() const { return fidelity == Fidelity::analytical; }

  LinkReport() = default;
  /// What the link has counted; its names are to be set.
  explicit LinkReport(const fabric::Link& of)
      : link(&of), bytes(of.bytes()), messages(of.messages()), busy(of.busy()), queued(of.queued()) {}
};

}  // namespace weft

#endif
