// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A true scheduling anomaly, worked out by hand in docs/testing.md, "Anomalies": with a faster link the same
// collective takes longer (R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969). Weft must show
// both times exactly.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

/// Two chunks of 4,800 B, all-reduced on Ring(2)_Ring(2)_Ring(2) without latency; ps.
std::string time_with(Fidelity fidelity, uint64_t third_gigabytes) {
  const auto result = test::isolated([&] {
    Config config;
    for (const uint64_t gigabytes : {uint64_t{15}, uint64_t{12}, third_gigabytes}) {
      DimensionConfig d;
      d.kind = DimensionKind::ring;
      d.size = 2;
      d.bandwidth = {gigabytes * 1'000'000'000, 1};
      d.latency = 0;
      d.fidelity = fidelity;
      config.dimensions.push_back(d);
    }
    config.collectives.chunks = 2;
    config.collectives.order = CollectiveOrder::round_robin;
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, 9600);
    test::run_to_the_end(job);
    return std::to_string(job.last().time());
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(SchedulingAnomaly, AFasterLinkMakesTwoChunksTakeLonger) {
  for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message}) {
    EXPECT_EQ(time_with(fidelity, 48), "625000");
    EXPECT_EQ(time_with(fidelity, 120), "760000");
  }
}

}  // namespace
}  // namespace weft
