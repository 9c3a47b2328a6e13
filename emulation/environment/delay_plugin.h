// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Delay source `plugin`: a function of a shared library says how long each step of a collective takes
// (weft_delay.h).

#ifndef WEFT_EMULATION_ENVIRONMENT_DELAY_PLUGIN_H
#define WEFT_EMULATION_ENVIRONMENT_DELAY_PLUGIN_H

#include <functional>
#include <string>

#include "emulation/environment/delay_source.h"
#include "emulation/environment/weft_delay.h"

namespace weft::emulation {

class DelayPlugin final : public DelaySource {
 public:
  using Function = std::function<int64_t(const weft_collective*)>;
  /// Loads the library. Throws UserError(usage): it cannot be loaded, or has no such function.
  explicit DelayPlugin(const std::string& path);
  /// `name`: for messages.
  DelayPlugin(std::string name, Function function);

  double retime(const collectives::CollectivePlan& plan, Picoseconds idle, OperationTimes& times) override;

 private:
  void retime_rank(const collectives::CollectivePlan& plan, uint32_t rank, RankTimes& times);
  int64_t ask(const weft_collective& step) const;

  std::string name_;
  Function function_;
};

}  // namespace weft::emulation

#endif
