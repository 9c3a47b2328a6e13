// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What every model of a collective unit keeps of the blocks that cross it: the phases under way and what
// their operation expects, the results for each receiver, the places of results that leave, and the counts
// that must balance. When things happen is the model's business.

#ifndef WEFT_SC_MODELS_UNIT_BLOCKS_H
#define WEFT_SC_MODELS_UNIT_BLOCKS_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sc_models/unit_model.h"
#include "tlm_interconnect/collective/collective_unit.h"
#include "workload/collectives/in_switch.h"

namespace weft {

/// The figures of a dimension's units, as the model of a unit takes them.
fabric::CollectiveUnit::Parameters unit_parameters(const CollectiveUnitConfig& unit);

class UnitBlocks {
 public:
  using BlockId = fabric::CollectiveUnit::BlockId;
  using Contribution = fabric::CollectiveUnit::Contribution;
  using Result = fabric::CollectiveUnit::Result;

  /// `name` is the unit's, in messages.
  UnitBlocks(const UnitPlace& place, std::string name);
  ~UnitBlocks();

  /// Enters what has come: a packet that belongs to the unit until its block is sent.
  Contribution take(fabric::PacketRef ref, Picoseconds head, Picoseconds tail, Picoseconds before);
  /// The contributions of the block are combined, and do not just move.
  bool reduces(const BlockId& block) const;

  /// The elements of a contribution; null when sizes only are simulated.
  const std::byte* elements(const Contribution& contribution) const;
  /// The handle of a result's elements: by this library's arithmetic in the order of the contributors, or
  /// (`sums` not null) what the caller has computed. The contributions' elements are used up.
  uint32_t combine(const Result& result, const std::byte* sums = nullptr);

  /// Sends the result with the elements `data` to all receivers; the contributions are released. `latency` is
  /// the time that the unit took, for the split of the result's time. Returns when the last byte has left;
  /// kNever: left() tells.
  Picoseconds send(const Result& result, uint32_t data, Picoseconds latency, Picoseconds now);
  /// A result of `number` has left at `when`: the block, and when its last result has left; kNever: not yet.
  std::pair<BlockId, Picoseconds> left(uint32_t number, Picoseconds when);

  const collectives::UnitLayout::Totals& totals() const { return total_; }
  /// Phases under way.
  size_t phases() const { return phases_.size(); }
  void count(Counters& counters) const;
  void find_unbalanced(std::vector<std::string>& lines) const;
  /// The rank of a contributor of a block.
  uint32_t rank(const BlockId& block, uint32_t contributor) const;

 private:
  struct PhaseKey {
    uint32_t stream = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    bool operator<(const PhaseKey& o) const {
      return std::tie(stream, chunk, phase) < std::tie(o.stream, o.chunk, o.phase);
    }
  };
  /// A phase of which something has arrived.
  struct Phase {
    std::shared_ptr<const collectives::CollectivePlan> plan;
    collectives::AxisView view;  ///< of the line
    collectives::UnitLayout layout;
    collectives::UnitLayout::Totals expected;
    collectives::UnitLayout::Totals counted;
    uint64_t blocks_left = 0;
  };

  static PhaseKey key(const BlockId& block) { return {block.stream, block.chunk, block.phase}; }
  Phase& phase_of(const MessageId& id, uint32_t source);
  void close(const PhaseKey& key);
  uint32_t leave(const BlockId& block);
  Picoseconds gone(uint32_t number, Picoseconds when);

  std::string name_;
  uint32_t dimension_;
  const Config& config_;
  const Geometry& geometry_;
  fabric::PacketPool& pool_;
  UnitContext context_;
  UnitPorts& ports_;
  std::map<PhaseKey, Phase> phases_;
  /// Blocks of whose results some are still leaving.
  struct Leaving {
    BlockId block;
    uint32_t results = 0;
    Picoseconds last = 0;
  };
  std::vector<Leaving> leaving_;
  std::vector<uint32_t> free_;  ///< of those, the unused ones
  collectives::UnitLayout::Totals total_;
  std::vector<std::string> broken_;
};

}  // namespace weft

#endif
