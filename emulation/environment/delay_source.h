// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Whose times collectives with emulated ranks take, if not the machine's (`environment.delay`).

#ifndef WEFT_EMULATION_ENVIRONMENT_DELAY_SOURCE_H
#define WEFT_EMULATION_ENVIRONMENT_DELAY_SOURCE_H

#include "configs/types.h"
#include "emulation/environment/operation_times.h"
#include "workload/collectives/plan.h"

namespace weft::emulation {

class DelaySource {
 public:
  virtual ~DelaySource() = default;
  /// Puts this source's times in the place of the idle machine's. `times`: of members that join at once.
  /// `idle` > 0: ps until the last member was done. Returns the factor for the longest paths between
  /// members that join at different times. Throws UserError(usage).
  virtual double retime(const collectives::CollectivePlan& plan, Picoseconds idle, OperationTimes& times) = 0;
};

}  // namespace weft::emulation

#endif
