// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The fuzz initiator on whatever a test builds behind it, with a checker on every hop: 20 seeds of each
// style, and the throughput of 1 and 8 outstanding.

#ifndef WEFT_TESTS_COSIM_FUZZ_HOPS_H
#define WEFT_TESTS_COSIM_FUZZ_HOPS_H

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cosim/tlm/base_protocol_checker.h"
#include "cosim/tlm/fuzz_initiator.h"
#include "tests/support/isolated.h"
#include "tests/support/memory_initiators.h"

namespace weft::test {

constexpr uint64_t kFuzzSize = 1 << 16;  ///< bytes that what stands behind must have, and no more

/// Checkers, made one after the other, and what they found.
struct Hops {
  cosim::BaseProtocolChecker& add(const cosim::BaseProtocolChecker::Options& options = {}) {
    all.push_back(std::make_unique<cosim::BaseProtocolChecker>(
        ("checker" + std::to_string(all.size())).c_str(), options));
    return *all.back();
  }
  std::string finish() {
    std::string text;
    for (auto& checker : all) {
      checker->finish();
      text += lines(checker->violations());
    }
    return text;
  }
  std::vector<std::unique_ptr<cosim::BaseProtocolChecker>> all;
};

struct Outcome {
  std::string text;
  Picoseconds last = 0;
};

/// Builds what stands behind the fuzz initiator's hop and says when the simulation is over what is wrong in
/// it; `target` is to be bound.
using Behind = std::function<std::function<std::string()>(tlm::tlm_initiator_socket<32>& target,
                                                          uint64_t seed, Hops& hops)>;

inline Outcome fuzz(cosim::FuzzInitiator::Options options, bool provoke, const Behind& behind) {
  cosim::FuzzInitiator initiator("initiator", options);
  Hops hops;
  cosim::BaseProtocolChecker::Options c;
  c.provoke = provoke;
  c.capacity = kFuzzSize;
  c.transactions = options.transactions;
  cosim::BaseProtocolChecker& checker = hops.add(c);
  checker.watch(initiator.pool());
  initiator.socket.bind(checker.target);
  const auto finish = behind(checker.initiator, options.seed, hops);
  sc_core::sc_start();
  std::string text = hops.finish();
  initiator.finish();
  text += lines(initiator.violations()) + finish();
  if (options.data && initiator.compared() == 0) text += "nothing was compared\n";
  return {text, initiator.last()};
}

/// 20 seeds of each style; then 1 and 8 outstanding: the time of these is less, by the factor `faster`;
/// 0: not looked at.
inline void expect_right(const Behind& behind,
                         const std::function<void(cosim::FuzzInitiator::Options&)>& change = {},
                         double faster = 2) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const cosim::FuzzStyle style :
         {cosim::FuzzStyle::lt, cosim::FuzzStyle::at, cosim::FuzzStyle::mixed}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " style " + std::to_string(static_cast<int>(style)));
      EXPECT_SILENT(isolated([&] {
        cosim::FuzzInitiator::Options options;
        options.seed = seed;
        options.style = style;
        options.outside = kFuzzSize;
        options.transactions = 120;
        if (change) change(options);
        return fuzz(options, seed % 2 == 0, behind).text;
      }));
    }
  }
  if (faster == 0) return;
  for (const cosim::FuzzStyle style : {cosim::FuzzStyle::lt, cosim::FuzzStyle::at}) {
    std::vector<Picoseconds> times;
    for (const uint32_t outstanding : {1u, 8u}) {
      const auto result = isolated([&] {
        cosim::FuzzInitiator::Options options;
        options.style = style;
        options.transactions = 300;
        options.outstanding = outstanding;
        options.most_gap = 0;
        options.delays = false;
        options.most_length = 64;
        if (change) change(options);
        const Outcome outcome = fuzz(options, false, behind);
        return outcome.text.empty() ? std::to_string(outcome.last) : outcome.text;
      });
      ASSERT_EQ(result.status, 0) << result.text;
      ASSERT_EQ(result.text.find_first_not_of("0123456789"), std::string::npos) << result.text;
      times.push_back(std::stoull(result.text));
    }
    EXPECT_LT(faster * static_cast<double>(times[1]), static_cast<double>(times[0]))
        << "8 outstanding are not that much faster than 1";
  }
}

}  // namespace weft::test

#endif
