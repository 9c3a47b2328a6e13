// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A run in parts of a job whose replicas are alike at first (sc_models/splitting.h): one scout for all parts
// of this computer, and each part tells its own ranks from others. Where a part finds that they are not
// alike, the run starts again in one process.

#ifndef WEFT_SC_MAIN_PARTS_SPLIT_IN_PARTS_H
#define WEFT_SC_MAIN_PARTS_SPLIT_IN_PARTS_H

#include <memory>
#include <optional>

#include "sc_main/parts/parts_run.h"
#include "sc_main/split_scout.h"

namespace weft::cli {

class SplitInParts {
 public:
  /// Before PartsRun::split(). `parts`: null: the run is not in parts. `watched`: as of SplitRun.
  SplitInParts(PartsRun* parts, std::unique_ptr<graph::CheckedJob>& job, bool watched);

  /// In each part, when its machine is built, before TraceJob::start(). Both outlive the run.
  void prepare(TraceJob& job);

 private:
  PartsRun* const parts_;
  std::optional<SplitScout> scout_;
};

}  // namespace weft::cli

#endif
