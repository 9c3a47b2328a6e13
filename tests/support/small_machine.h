// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine of eight NPUs, Ring(4)_Switch(2).

#ifndef WEFT_TESTS_SUPPORT_SMALL_MACHINE_H
#define WEFT_TESTS_SUPPORT_SMALL_MACHINE_H

#include "configs/config.h"

namespace weft::test {

inline Config ring_4_switch_2(Fidelity fidelity = Fidelity::message) {
  Config config;
  DimensionConfig d;
  d.kind = DimensionKind::ring;
  d.size = 4;
  d.bandwidth = {50'000'000'000ull, 1};
  d.latency = 500'000;
  d.fidelity = fidelity;
  config.dimensions = {d};
  d.kind = DimensionKind::switch_;
  d.size = 2;
  config.dimensions.push_back(d);
  config.collectives.chunks = 4;
  return config;
}

}  // namespace weft::test

#endif
