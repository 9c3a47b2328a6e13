// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs a job of few nodes, in a process of its own.

#ifndef WEFT_TESTS_SUPPORT_TRACE_RUN_H
#define WEFT_TESTS_SUPPORT_TRACE_RUN_H

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"

namespace weft::test {

/// What `tell` says of a job of these traces, with group file `groups`, on a machine. Not finished: it has
/// stalled.
inline std::string of_traces(const std::string& machine, const std::string& groups,
                             const std::vector<std::vector<trace::test::PbNode>>& ranks,
                             const std::function<std::string(TraceJob&)>& tell,
                             const std::vector<std::string>& overrides = {}) {
  const auto result = isolated([&] {
    const trace::test::TempFolder folder;
    trace::test::spit(folder / "machine.yaml", machine);
    trace::test::spit(folder / "groups.json", groups);
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      trace::test::write_trace(folder / ("job." + std::to_string(rank) + ".et"), ranks[rank]);
    const Config config = load_config(folder / "machine.yaml", overrides);
    const trace::JobTrace traces =
        trace::open_job(folder / "job", config.npus(), folder / "groups.json", false);
    SoloTraceJob job("job", config, traces);
    job.start();
    run_to_the_end(job);
    return tell(job);
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

}  // namespace weft::test

#endif
