// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Random probes, commitments and revocations against a model that keeps every call and sorts at the end.

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vcd/vcd_writer.h"
#include "vcd_parser.h"

namespace weft::vcd {
namespace {

struct Call {
  Time time;
  uint64_t order;
  uint32_t signal;
  uint64_t value;
  bool revoked = false;
};

std::string digits(uint64_t value, unsigned width) {
  if (width == 1) return value != 0 ? "1" : "0";
  std::string text;
  do {
    text.insert(text.begin(), (value & 1) != 0 ? '1' : '0');
    value >>= 1;
  } while (value != 0);
  return "b" + text;
}

class VcdRandom : public ::testing::TestWithParam<uint64_t> {};

TEST_P(VcdRandom, AgreesWithTheReferenceModel) {
  std::mt19937_64 random(GetParam());
  const auto below = [&random](uint64_t n) { return random() % n; };
  const test::TemporaryFolder folder;
  WriterOptions options;
  options.path = folder.file("w.vcd");
  const Time horizon = 3000;
  if (GetParam() % 3 != 0) {
    options.window.from = below(horizon / 2);
    options.window.to = options.window.from + below(horizon);
  }
  VcdWriter writer(options);
  std::vector<unsigned> widths;
  const size_t signals = 1 + below(40);
  for (size_t i = 0; i < signals; ++i) {
    widths.push_back(i % 5 == 0 ? 1 : static_cast<unsigned>(1 + below(64)));
    const std::string name = "s" + std::to_string(i % 7) + ".n" + std::to_string(i);
    if (widths.back() == 1) {
      writer.add_bit(name);
    } else {
      writer.add_number(name, widths.back());
    }
  }

  std::vector<Call> calls;
  std::vector<std::pair<size_t, FutureHandle>> handles;
  Time now = 0;
  const size_t steps = 200 + below(2000);
  for (size_t i = 0; i < steps && now < horizon; ++i) {
    const auto signal = static_cast<uint32_t>(below(signals));
    // Few values, so that repeated ones are common.
    const uint64_t value = (below(2) != 0 ? random() : below(3)) & (~uint64_t{0} >> (64 - widths[signal]));
    const Time t = below(2) != 0 ? now : now + below(60);
    switch (below(8)) {
      case 0:
        now += below(25);
        writer.advance(now);
        break;
      case 1:
        if (!handles.empty()) {
          const auto [call, handle] = handles[below(handles.size())];
          const bool possible = !calls[call].revoked && calls[call].time >= now && now <= options.window.to;
          ASSERT_EQ(writer.revoke(handle), possible);
          if (possible) calls[call].revoked = true;
        }
        break;
      case 2:
      case 3: {
        const FutureHandle handle = writer.probe_at(t, static_cast<SignalId>(signal), value);
        ASSERT_EQ(static_cast<bool>(handle), t <= options.window.to && now <= options.window.to);
        if (handle) handles.emplace_back(calls.size(), handle);
        calls.push_back({t, i, signal, value});
        break;
      }
      default:
        writer.probe(t, static_cast<SignalId>(signal), value);
        calls.push_back({t, i, signal, value});
    }
  }
  const Time end = now + below(40);
  writer.close(end);

  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.time < b.time; });
  std::map<std::string, std::vector<test::Change>> expected;
  uint64_t written = 0;
  for (size_t s = 0; s < signals && end >= options.window.from; ++s) {
    std::map<Time, std::string> by_time;
    for (const Call& c : calls) {
      if (c.signal == s && !c.revoked && c.time <= end) by_time[c.time] = digits(c.value, widths[s]);
    }
    std::string value = widths[s] == 1 ? "x" : "bx";
    std::vector<test::Change> list;
    for (const auto& [time, v] : by_time) {
      if (time <= options.window.from) value = v;
    }
    list.push_back({options.window.from, value});
    for (const auto& [time, v] : by_time) {
      if (time <= options.window.from || time > options.window.to || v == value) continue;
      list.push_back({time, v});
      value = v;
      ++written;
    }
    expected["s" + std::to_string(s % 7) + ".n" + std::to_string(s)] = list;
  }
  const test::ParsedVcd parsed = test::parse_vcd(test::read_file(options.path));
  EXPECT_EQ(parsed.changes, expected);
  EXPECT_EQ(writer.changes(), written);
  if (!parsed.times.empty()) {
    EXPECT_EQ(parsed.times.back(), std::min(end, options.window.to));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, VcdRandom, ::testing::Range<uint64_t>(0, 300));

}  // namespace
}  // namespace weft::vcd
