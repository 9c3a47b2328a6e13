// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// sc_trace into waveforms: every type that sc_trace takes, random values, compared with what the test wrote
// and with the kernel's own trace file.

#include "cosim/trace/trace_front.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

// The fixed-point types are only declared without this.
#include <sysc/datatypes/fx/fx.h>

#include "tests/support/isolated.h"
#include "tests/vcd/vcd_parser.h"
#include "vcd/waves.h"

namespace weft::cosim {
namespace {

using sc_core::sc_trace;
using test::isolated;
using vcd::test::Change;

/// Something of somebody else: one object of every type, a new value of each now and then.
struct Foreign : sc_core::sc_module {
  explicit Foreign(sc_core::sc_module_name n)
      : sc_core::sc_module(n), narrow(40), wide(100), unsigned_wide(70), bits(65), logic(5) {
    SC_HAS_PROCESS(Foreign);
    SC_THREAD(run);
  }
  void trace_all(sc_core::sc_trace_file* file) {
    sc_trace(file, flag, "flag");
    sc_trace(file, port, "port");
    sc_trace(file, byte, "byte");
    sc_trace(file, small, "small", 5);
    sc_trace(file, integer, "integer");
    sc_trace(file, large, "large");
    sc_trace(file, ratio, "ratio");
    sc_trace(file, sc_int, "sc_int");
    sc_trace(file, sc_uint, "sc_uint");
    sc_trace(file, narrow, "narrow");
    sc_trace(file, wide, "wide");
    sc_trace(file, unsigned_wide, "unsigned_wide");
    sc_trace(file, bits, "bits");
    sc_trace(file, logic, "logic");
    sc_trace(file, wire, "wire");
    sc_trace(file, fixed, "fixed");
  }
  void run() {
    for (int i = 0; i < 60; ++i) {
      const auto some = [this] { return random() % 3 == 0; };
      if (some()) flag = random() % 2 != 0;
      if (some()) port.write(static_cast<uint32_t>(random()));
      if (some()) byte = static_cast<unsigned char>(random());
      if (some()) small = static_cast<unsigned>(random() % 32);
      if (some()) integer = static_cast<int>(random());
      if (some()) large = static_cast<sc_dt::int64>(random());
      if (some()) ratio = static_cast<double>(random() % 1000) / 8;
      if (some()) sc_int = static_cast<int64_t>(random());
      if (some()) sc_uint = random();
      if (some()) narrow = static_cast<int64_t>(random());
      if (some()) wide = (sc_dt::sc_signed(100) = static_cast<int64_t>(random())) * 1000003;
      if (some()) unsigned_wide = random();
      if (some()) bits[static_cast<int>(random() % 65)] = random() % 2 != 0;
      if (some()) logic[static_cast<int>(random() % 5)] = sc_dt::sc_logic(static_cast<int>(random() % 4));
      if (some()) wire = sc_dt::sc_logic(static_cast<int>(random() % 4));
      if (some()) fixed = static_cast<double>(random() % 64) / 4;
      wait(sc_core::sc_time(static_cast<double>(1 + random() % 5), sc_core::SC_NS));
    }
  }
  std::mt19937_64 random{7};
  bool flag = false;
  sc_core::sc_signal<uint32_t> port{"port"};
  unsigned char byte = 0;
  unsigned small = 0;
  int integer = 0;
  sc_dt::int64 large = 0;
  double ratio = 0;
  sc_dt::sc_int<33> sc_int;
  sc_dt::sc_uint<64> sc_uint;
  sc_dt::sc_signed narrow, wide;
  sc_dt::sc_unsigned unsigned_wide;
  sc_dt::sc_bv_base bits;
  sc_dt::sc_lv_base logic;
  sc_dt::sc_logic wire{sc_dt::SC_LOGIC_X};
  sc_dt::sc_fixed<12, 8> fixed;
};

/// The changes in the kernel's file: time in ps, value as Weft's file has it. Text has leading digits, and
/// sc_logic a number, so that kind says how.
std::map<std::string, std::vector<Change>> kernel_changes(const std::string& path) {
  std::map<std::string, std::string> names;
  std::map<std::string, std::vector<Change>> changes;
  std::ifstream in(path);
  uint64_t time = 0;
  uint64_t unit = 1;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first == "1" && second == "ns") unit = 1000;
    if (first == "$var") {
      std::string code, name;
      words >> code >> code >> name;  // type, width, code, name
      std::istringstream again(line);
      std::string type, width;
      again >> first >> type >> width >> code >> name;
      names[code] = name;
    } else if (first[0] == '#') {
      time = std::stoull(first.substr(1)) * unit;
    } else if (!first.empty() && (first[0] == 'b' || first[0] == 'r') && !second.empty()) {
      if (names.count(second) != 0) changes[names[second]].push_back({time, first});
    } else if (!first.empty() && std::string("01xzXZ").find(first[0]) != std::string::npos &&
               names.count(first.substr(1)) != 0) {
      changes[names[first.substr(1)]].push_back({time, first.substr(0, 1)});
    }
  }
  return changes;
}

/// A value in one form: digits without leading zeros, numbers as they are.
std::string plain(std::string v) {
  static const std::map<std::string, std::string> kLogic = {{"z", "Z"}, {"x", "X"}};
  if (v[0] == 'r') return fmt::format("{:.6g}", std::stod(v.substr(1)));
  if (v[0] == 'b' || v[0] == 's') v = v.substr(1);
  for (char& c : v) c = c == 'z' ? 'Z' : c == 'x' ? 'X' : c;
  const size_t first = v.find_first_not_of('0');
  return first == std::string::npos ? "0" : v.substr(first);
}

/// All signals, into the folder's ours.vcd.
vcd::WavesOptions everything_in(const vcd::test::TemporaryFolder& folder) {
  vcd::WavesOptions options;
  options.selection = "*";
  options.writer.path = folder.file("ours.vcd");
  options.writer.clock = [] { return sc_core::sc_time_stamp().value(); };
  return options;
}

TEST(TraceFront, EveryTypeIsWhatTheKernelsOwnFileHas) {
  EXPECT_SILENT(isolated([]() -> std::string {
    const vcd::test::TemporaryFolder folder;
    std::map<std::string, std::vector<Change>> ours;
    std::map<std::string, std::vector<Change>> theirs;
    {
      vcd::ProbeHub probes;
      vcd::Waves waves(everything_in(folder));
      waves.listen(probes);
      Foreign foreign("foreign");
      TraceFront front(probes, "ip.");
      foreign.trace_all(&front);
      if (front.signals() != 16) return fmt::format("{} signals", front.signals());
      sc_core::sc_trace_file* const kernel = sc_core::sc_create_vcd_trace_file(folder.file("theirs").c_str());
      kernel->set_time_unit(1, sc_core::SC_NS);
      foreign.trace_all(kernel);
      waves.begin();
      sc_core::sc_start();
      waves.close(sc_core::sc_time_stamp().value());
      sc_core::sc_close_vcd_trace_file(kernel);
    }
    ours = vcd::test::parse_vcd(vcd::test::read_file(folder.file("ours.vcd"))).changes;
    theirs = kernel_changes(folder.file("theirs.vcd"));
    static const std::map<std::string, std::string> kLogic = {
        {"0", "0"}, {"1", "1"}, {"10", "Z"}, {"11", "X"}};
    std::string wrong;
    size_t compared = 0;
    for (const auto& [name, changes] : theirs) {
      const std::vector<Change>& own = ours["ip." + name];
      // The value at each time of either file.
      const auto value_at = [](const std::vector<Change>& list, uint64_t t) {
        std::string value = "?";
        for (const Change& change : list)
          if (change.time <= t) value = change.value;
        return value;
      };
      for (const Change& change : changes) {
        std::string own_value = plain(value_at(own, change.time));
        if (name == "wire") own_value = kLogic.at(own_value);
        if (name == "fixed")  // the kernel writes its bits, four of them behind the point
          own_value = plain(fmt::format("b{:b}", static_cast<uint32_t>(std::stod(own_value) * 16)));
        ++compared;
        if (own_value != plain(value_at(changes, change.time)))
          wrong += fmt::format("{} at {} ps: {} instead of {}\n", name, change.time, own_value, change.value);
      }
      if (own.size() != changes.size() && own.size() != changes.size() + 1)
        wrong += fmt::format("{}: {} changes instead of {}\n", name, own.size(), changes.size());
    }
    if (theirs.size() != 16 || compared < 200)
      wrong += fmt::format("{} signals, {} values compared\n", theirs.size(), compared);
    return wrong;
  }));
}

TEST(TraceFront, EventsAreSeenOnceAnInstant) {
  EXPECT_SILENT(isolated([]() -> std::string {
    const vcd::test::TemporaryFolder folder;
    vcd::ProbeHub probes;
    vcd::Waves waves(everything_in(folder));
    waves.listen(probes);
    sc_core::sc_event event("event");
    TraceFront front(probes);
    sc_trace(&front, event, "event");
    waves.begin();
    for (const int ns : {3, 3, 10}) {
      event.notify(ns, sc_core::SC_NS);
      sc_core::sc_start(ns, sc_core::SC_NS);
    }
    sc_core::sc_start(1, sc_core::SC_NS);
    waves.close(20'000);
    std::string rises;
    auto parsed = vcd::test::parse_vcd(vcd::test::read_file(folder.file("ours.vcd")));
    for (const Change& change : parsed.changes["event"])
      if (change.value == "1") rises += fmt::format("{} ", change.time);
    return rises == "3000 6000 16000 " ? "" : rises;
  }));
}

TEST(TraceFront, WhatNobodyWantsIsNotWatched) {
  EXPECT_SILENT(isolated([]() -> std::string {
    vcd::ProbeHub probes;
    Foreign foreign("foreign");
    TraceFront front(probes);
    foreign.trace_all(&front);
    return front.signals() == 0 ? "" : fmt::format("{} signals are watched", front.signals());
  }));
}

}  // namespace
}  // namespace weft::cosim
