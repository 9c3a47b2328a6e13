// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Full exchanges on a Ring at `analytical` fidelity, as one member sees them: rounds in which every member of
// a whole line sends a message to every other one (`direct`, and programs that do the like). Most of them
// pass links that other members' messages pass, too, so that a member's last link carries more than what is
// for the member; when all members enter together the round is not over before it has. docs/analytical.md has
// the rule and why it holds.

#ifndef WEFT_SC_MODELS_FULL_EXCHANGES_H
#define WEFT_SC_MODELS_FULL_EXCHANGES_H

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/config.h"
#include "workload/collectives/plan.h"
#include "workload/seam.h"

namespace weft {

class FullExchanges {
 public:
  FullExchanges(NpuId rank, const Config& config) : rank_(rank), config_(config) {}

  /// Can there be any on this machine, at whatever fidelity?
  static bool possible(const Config& config);

  /// This member starts a collective, at the fidelities of these dimensions. Before its first message. True:
  /// it has full exchanges.
  bool begin(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
             const std::vector<DimensionConfig>& dimensions);
  /// It has finished its part. False: no other one that has full exchanges is running.
  bool end(uint32_t stream);

  /// This member sends a message of a collective. True: one of a full exchange; the receiver must be told.
  bool sends(const MessageId& id, Picoseconds now);
  /// A message of a full exchange that its sender has sent at `sent` is received: not before this time.
  Picoseconds receives(const MessageId& id, Picoseconds sent);

 private:
  struct Running {
    uint32_t stream = 0;
    std::shared_ptr<const collectives::CollectivePlan> plan;
    const std::vector<DimensionConfig>* dimensions = nullptr;
    // Of the phase asked for last:
    uint32_t chunk = ~0u;
    uint32_t phase = 0;
    uint32_t members = 0;
    const std::vector<collectives::Exchange>* rounds = nullptr;  ///< null: none is a full exchange
  };
  struct Exchange {
    MessageId id;
    uint32_t members = 0;  ///< 0: this member has not entered the round
    uint32_t sent = 0;
    uint32_t received = 0;
    Picoseconds first = kNever;  ///< entry into the round, of those known
    Picoseconds last = 0;
    bool over() const { return members != 0 && sent + 1 == members && received + 1 == members; }
  };
  /// Rounds of the phase are full exchanges for which the rule holds.
  bool has_exchanges(const collectives::CollectivePlan& plan, const collectives::PhasePlan& phase,
                     const std::vector<DimensionConfig>& dimensions) const;
  Running* find(uint32_t stream);
  uint32_t members(Running& running, const MessageId& id) const;
  Exchange& exchange(const MessageId& id);
  void forget(Exchange& exchange);
  /// From the first entry until the member's last links have carried what passes them.
  Picoseconds carried(const Running& running, const MessageId& id) const;

  NpuId rank_;
  const Config& config_;
  std::vector<Running> running_;
  std::vector<Exchange> exchanges_;
};

}  // namespace weft

#endif
