// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the machine asks of every part that counts, holds or can lose something: its counters, the links that
// it sends on, why nothing moves in it, and what does not balance at the end. A new kind of part is one more
// Component; the machine needs no list for it.

#ifndef WEFT_SC_MODELS_COMPONENT_H
#define WEFT_SC_MODELS_COMPONENT_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sc_models/link_report.h"
#include "tlm_interconnect/packet/train_counts.h"

namespace weft {

/// Sums over all parts.
struct Counters {
  uint64_t messages_submitted = 0;
  uint64_t messages_delivered = 0;
  uint64_t bytes_submitted = 0;
  uint64_t bytes_delivered = 0;
  uint64_t links = 0;  ///< a lower bound, to reserve rows
  uint64_t link_bytes = 0;
  uint64_t link_messages = 0;
  uint64_t activations = 0;
  uint64_t unit_messages_in = 0;   ///< contributions taken by collective units
  uint64_t unit_messages_out = 0;  ///< results sent by them
  uint64_t unit_bytes_in = 0;
  uint64_t unit_bytes_out = 0;
  uint64_t in_flight = 0;
  uint64_t out_of_order_starts = 0;
  uint64_t packet_hops = 0;    ///< packet fidelity: packets times routers they left
  uint64_t flits = 0;          ///< packet fidelity: that arrived
  packet::TrainCounts trains;  ///< packet fidelity
  uint64_t memory_bytes = 0;
  uint64_t memory_outstanding = 0;
};

/// Where the links of a part stand in links.csv. Within one place they stand as their parts were built.
enum class LinkPlace : uint8_t { nmus, hosts, crossbars, units, switches, pool, packets, others };
inline constexpr LinkPlace kLinkPlaces[] = {LinkPlace::nmus,    LinkPlace::hosts,    LinkPlace::crossbars,
                                            LinkPlace::units,   LinkPlace::switches, LinkPlace::pool,
                                            LinkPlace::packets, LinkPlace::others};

class Component {
 public:
  using LinkVisitor = std::function<void(const LinkReport&)>;

  virtual ~Component() = default;

  /// Adds what this part has counted.
  virtual void count(Counters& counters) const = 0;
  /// Calls `visit` for every link direction that this part sends on, in a fixed order.
  virtual void for_each_link(const LinkVisitor&) const {}
  virtual LinkPlace link_place() const { return LinkPlace::others; }
  /// Why nothing moves in it, after its name; "" when nothing is held.
  virtual std::string stall_text() const { return {}; }
  /// Adds a line for every law of conservation that does not hold when nothing is under way any more. What
  /// only the sum over all modules shows is the machine's to find.
  virtual void find_unbalanced(std::vector<std::string>&) const {}
  /// Adds what the reader of the results has to know of this part, a line each: warnings of summary.json.
  virtual void find_warnings(std::vector<std::string>&) const {}
};

}  // namespace weft

#endif
