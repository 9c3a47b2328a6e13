// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the tests of stream adapters share: drawn frames, a log of what came when, and a block with ports.

#ifndef WEFT_TESTS_COSIM_STREAM_BENCH_H
#define WEFT_TESTS_COSIM_STREAM_BENCH_H

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <systemc>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/clock/block_clock.h"

namespace weft::cosim::test {

inline Picoseconds now() {
  return sc_core::sc_time_stamp().value();
}

/// Runs `call` at a time.
class At final : public sc_core::sc_module {
 public:
  At(sc_core::sc_module_name name, Picoseconds time, std::function<void()> call)
      : sc_core::sc_module(name), time_(time), call_(std::move(call)) {
    SC_HAS_PROCESS(At);
    SC_METHOD(run);
  }

 private:
  void run() {
    if (now() < time_) return next_trigger(sc_core::sc_time::from_value(time_ - now()));
    call_();
  }
  Picoseconds time_;
  std::function<void()> call_;
};

struct Random {
  explicit Random(uint64_t seed) : engine(seed) {}
  uint64_t below(uint64_t n) { return engine() % n; }
  std::mt19937_64 engine;

  StreamFrame frame(size_t bytes, unsigned id_bits = 0, unsigned dest_bits = 0, unsigned user_bits = 0) {
    StreamFrame frame;
    frame.bytes.resize(bytes);
    for (auto& byte : frame.bytes) byte = static_cast<uint8_t>(engine());
    frame.id = id_bits == 0 ? 0 : below(uint64_t{1} << id_bits);
    frame.dest = dest_bits == 0 ? 0 : below(uint64_t{1} << dest_bits);
    frame.user = user_bits == 0 ? 0 : below(uint64_t{1} << user_bits);
    return frame;
  }
};

/// FNV-1a over times and numbers.
struct Hash {
  uint64_t value = 1469598103934665603ull;
  void add(uint64_t number) {
    for (int i = 0; i < 8; ++i) {
      value ^= number >> 8 * i & 0xff;
      value *= 1099511628211ull;
    }
  }
};

inline BlockClock::Options clock_options(const std::string& policy, Picoseconds period = 1000) {
  BlockClock::Options options;
  options.period = period;
  options.patience = 3000;
  set_policy(options, policy, "test");
  return options;
}

inline std::string differences(const std::vector<StreamFrame>& sent, const std::vector<StreamFrame>& taken) {
  if (sent.size() != taken.size())
    return fmt::format("{} frames sent, {} taken; ", sent.size(), taken.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    if (!(sent[i] == taken[i])) {
      return fmt::format("frame {} differs: {} B id {} dest {} user {} became {} B id {} dest {} user {}; ",
                         i, sent[i].bytes.size(), sent[i].id, sent[i].dest, sent[i].user,
                         taken[i].bytes.size(), taken[i].id, taken[i].dest, taken[i].user);
    }
  }
  return {};
}

}  // namespace weft::cosim::test

#endif
