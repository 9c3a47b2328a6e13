// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Beside a collective unit in RTL: the model of a unit (fabric::CollectiveUnit, with the configuration's
// rates and latency) gets the same contributions at the same times, and a file says of every block when its
// result came out of both.

#ifndef WEFT_COSIM_BLOCKS_UNIT_TIMING_H
#define WEFT_COSIM_BLOCKS_UNIT_TIMING_H

#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "configs/types.h"
#include "tlm_interconnect/collective/collective_unit.h"

namespace weft::cosim {

class UnitTiming final : private fabric::CollectiveUnit::Output {
 public:
  using BlockId = fabric::CollectiveUnit::BlockId;

  /// Errors: UserError(usage) when the file cannot be written.
  UnitTiming(const fabric::CollectiveUnit::Parameters& parameters, uint32_t ports, const std::string& file);
  ~UnitTiming() override;

  void arrived(const fabric::CollectiveUnit::Contribution& contribution, Picoseconds now);
  /// The RTL's result. `idle`: it was the last that is under way.
  void result(const BlockId& block, Picoseconds now, bool idle);

 private:
  struct Row {
    uint64_t bytes = 0;
    Picoseconds complete = 0;
    Picoseconds rtl = kNever;
    Picoseconds model = kNever;
  };
  Picoseconds send(const fabric::CollectiveUnit::Result& result, Picoseconds now) override;
  void advance(Picoseconds now);
  void write(const BlockId& block);

  fabric::CollectiveUnit::Parameters parameters_;
  uint32_t ports_;
  std::unique_ptr<fabric::CollectiveUnit> unit_;
  std::map<BlockId, Row> rows_;
  std::FILE* file_;
};

}  // namespace weft::cosim

#endif
