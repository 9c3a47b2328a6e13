// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Delay source `table`: measured times of whole collectives, in place of the machine's.

#ifndef WEFT_EMULATION_ENVIRONMENT_DELAY_TABLE_H
#define WEFT_EMULATION_ENVIRONMENT_DELAY_TABLE_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "configs/types.h"
#include "emulation/environment/delay_source.h"

namespace weft::emulation {

class DelayTable final : public DelaySource {
 public:
  /// Reads lines "operation,algorithm,group_size,bytes,time_us"; lines of '#' and a first line of names are
  /// skipped. `algorithm` may be empty. Throws UserError(usage) that names file and line.
  explicit DelayTable(const std::string& path);

  /// ps, log-linear between sizes; beyond them as the nearest size's bandwidth (above), or its time (below).
  /// Throws UserError(usage) if there is no line for this operation and group size.
  Picoseconds time(CollectiveOp op, uint32_t members, uint64_t bytes) const;

  /// The messages keep their share of the collective's time.
  double retime(const collectives::CollectivePlan& plan, Picoseconds idle, OperationTimes& times) override;

 private:
  std::string path_;
  std::map<std::pair<CollectiveOp, uint32_t>, std::map<uint64_t, double>> times_;  ///< ps by bytes
};

}  // namespace weft::emulation

#endif
