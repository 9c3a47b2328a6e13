// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/cxl/cxl_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "configs/hash64.h"

namespace weft {
namespace {

constexpr uint64_t kLine = 64;  // bytes
constexpr Wide kFemto = 1000;   // in a picosecond

/// CXL 1.1 and 2.0.
CxlFlit flit_68() {
  return {};
}

/// CXL 3.x: 15 slots, of which a stream of read data uses 14 (one has the headers).
CxlFlit flit_256() {
  CxlFlit flit;
  flit.bytes = 256;
  flit.slots = 15;
  flit.read_data = {30, 7};
  return flit;
}

CxlConfig preset(const char* name, double gigatransfers, uint32_t lanes, const CxlFlit& flit, Rate dram) {
  CxlConfig c;
  c.preset = name;
  c.gigatransfers = gigatransfers;
  c.lanes = lanes;
  c.flit = flit;
  c.link_latency = 30'000;
  c.switch_latency = 70'000;
  c.controller_latency = 40'000;
  c.dram_latency = 90'000;
  c.dram_bandwidth = dram;
  // Room for what is under way at full rate in 600 ns: two levels of switches.
  const auto flits = [&](double bandwidth) {
    const double data = 16.0 * (flit.slots == 4 ? 4 : 14);
    return static_cast<uint32_t>(std::ceil(bandwidth * 600e-9 / data));
  };
  c.read_credits = flits(c.read_bandwidth());
  c.write_credits = flits(c.write_bandwidth());
  return c;
}

double bytes_of(const CxlFlit& flit, const CxlFlit::Slots& slots) {
  return static_cast<double>(flit.bytes) / flit.slots * slots.count / slots.of;
}

/// Lines that so many flits of credit cover.
size_t lines_of(uint32_t credits, const CxlFlit& flit) {
  const uint64_t data = 16ull * (flit.slots == 4 ? 4 : 14);
  return static_cast<size_t>(std::max<uint64_t>(1, credits * data / kLine));
}

}  // namespace

double CxlConfig::read_bandwidth() const {
  return raw_bandwidth() * static_cast<double>(kLine) / bytes_of(flit, flit.read_data);
}

double CxlConfig::write_bandwidth() const {
  return raw_bandwidth() * static_cast<double>(kLine) / bytes_of(flit, flit.write_request);
}

Picoseconds CxlConfig::idle_latency() const {
  return CxlLink(*this).access(kLine, false, 0);
}

const std::vector<CxlPreset>& cxl_presets() {
  static const std::vector<CxlPreset> presets = {
      {"cxl2_x8", "CXL 2.0 on PCIe 5.0 x8, 32 GB/s raw a direction, one channel of DDR5-4800",
       preset("cxl2_x8", 32, 8, flit_68(), {38'400'000'000, 1})},
      {"cxl2_x16", "CXL 2.0 on PCIe 5.0 x16, 64 GB/s raw a direction, two channels of DDR5-4800",
       preset("cxl2_x16", 32, 16, flit_68(), {76'800'000'000, 1})},
      {"cxl3_x8", "CXL 3.x on PCIe 6.0 x8, 64 GB/s raw a direction, two channels of DDR5-6400",
       preset("cxl3_x8", 64, 8, flit_256(), {102'400'000'000, 1})},
      {"cxl3_x16", "CXL 3.x on PCIe 6.0 x16, 128 GB/s raw a direction, four channels of DDR5-6400",
       preset("cxl3_x16", 64, 16, flit_256(), {204'800'000'000, 1})},
  };
  return presets;
}

CxlConfig cxl_config(Parameters& parameters) {
  const std::string name = parameters.text("preset", "cxl2_x16");
  const auto& presets = cxl_presets();
  const auto it =
      std::find_if(presets.begin(), presets.end(), [&](const CxlPreset& p) { return name == p.name; });
  if (it == presets.end()) {
    std::string known;
    for (const CxlPreset& p : presets) known += fmt::format("{}{}", known.empty() ? "" : ", ", p.name);
    parameters.refuse("preset", fmt::format("there is no `{}`; use one of {}", name, known));
  }
  CxlConfig c = it->config;
  const auto whole = [&](const char* key, uint32_t value, uint64_t low, uint64_t high) {
    const uint64_t n = parameters.integer(key, std::to_string(value));
    if (n < low || n > high)
      parameters.refuse(key, fmt::format("it is {}, and must be between {} and {}", n, low, high));
    return static_cast<uint32_t>(n);
  };
  const auto time = [&](const char* key, Picoseconds value) {
    constexpr Picoseconds kMost = 1'000'000'000'000;  // 1 s
    const Picoseconds t = parameters.time(key, fmt::format("{} ps", value));
    if (t > kMost) parameters.refuse(key, "it is above 1 s");
    return t;
  };
  c.lanes = whole("lanes", c.lanes, 1, 64);
  c.link_latency = time("link_latency", c.link_latency);
  c.switches = whole("switches", c.switches, 0, 8);
  c.switch_latency = time("switch_latency", c.switch_latency);
  c.controller_latency = time("controller_latency", c.controller_latency);
  c.dram_latency = time("dram_latency", c.dram_latency);
  c.dram_bandwidth =
      parameters.bandwidth("dram_bandwidth", fmt::format("{} B/s", c.dram_bandwidth.bytes_per_second));
  c.read_credits = whole("read_credits", c.read_credits, 1, 1u << 20);
  c.write_credits = whole("write_credits", c.write_credits, 1, 1u << 20);
  c.bit_error_rate = parameters.number("bit_error_rate", "0");
  if (!(c.bit_error_rate >= 0 && c.bit_error_rate <= 1e-4))
    parameters.refuse("bit_error_rate",
                      fmt::format("it is {}, and must be between 0 and 0.0001", c.bit_error_rate));
  c.seed = parameters.integer("seed", "1");
  return c;
}

CxlLink::CxlLink(const CxlConfig& config)
    : config_(config),
      way_((Wide{config.link_latency} + Wide{config.switch_latency} * config.switches) * kFemto),
      line_(config.dram_bandwidth.bytes_per_second == 0
                ? 0
                : Wide{kLine} * 1'000'000'000'000'000 * config.dram_bandwidth.divisor /
                      config.dram_bandwidth.bytes_per_second),
      error_(-std::expm1(8.0 * config.flit.bytes * std::log1p(-config.bit_error_rate))) {
  down_.stream = hash64(config.seed);
  up_.stream = hash64(down_.stream);
  reads_.back.assign(lines_of(config.read_credits, config.flit), 0);
  writes_.back.assign(lines_of(config.write_credits, config.flit), 0);
}

CxlLink::Femto CxlLink::slots(const CxlFlit::Slots& slots) const {
  const double seconds = bytes_of(config_.flit, slots) / config_.raw_bandwidth();
  return static_cast<Femto>(std::llround(seconds * 1e15));
}

CxlLink::Femto CxlLink::send(Direction& direction, const CxlFlit::Slots& message, Femto ready) {
  const Femto time = slots(message);
  direction.free = std::max(direction.free, ready) + time;
  direction.busy += time;
  if (error_ > 0) {
    // Each flit that ends with this message is corrupted or not by its number. The receiver asks for it
    // again; what was sent behind it in the meantime is dropped.
    direction.part += static_cast<double>(message.count) / message.of / config_.flit.slots;
    while (direction.part >= 1) {
      direction.part -= 1;
      const uint64_t draw = hash64(direction.stream + ++direction.flits);
      if (static_cast<double>(draw >> 11) * 0x1p-53 >= error_) continue;
      ++replays_;
      direction.free += 2 * Wide{config_.link_latency} * kFemto;
    }
  }
  return direction.free;
}

CxlLink::Femto CxlLink::serve(Femto at) {
  dram_free_ = std::max(dram_free_, at + Wide{config_.controller_latency} * kFemto) + line_;
  return dram_free_;
}

CxlLink::Femto CxlLink::read_line(Femto at) {
  Femto& credit = reads_.back[reads_.next];
  reads_.next = (reads_.next + 1) % reads_.back.size();
  const Femto taken = std::max(at, credit);
  const Femto asked = send(down_, config_.flit.read_request, taken) + way_;
  const Femto data = serve(asked) + Wide{config_.dram_latency} * kFemto;
  credit = send(up_, config_.flit.read_data, data) + way_;  // the host has taken the data
  if (credit_listener_) credit_listener_(false, picoseconds(taken), picoseconds(credit));
  return credit;
}

CxlLink::Femto CxlLink::write_line(Femto at) {
  Femto& credit = writes_.back[writes_.next];
  writes_.next = (writes_.next + 1) % writes_.back.size();
  const Femto taken = std::max(at, credit);
  const Femto there = send(down_, config_.flit.write_request, taken) + way_;
  const Femto written = serve(there);
  credit = written + way_;  // the device has room again, and the host knows
  if (credit_listener_) credit_listener_(true, picoseconds(taken), picoseconds(credit));
  return send(up_, config_.flit.write_done, written) + way_;
}

Picoseconds CxlLink::access(uint64_t bytes, bool write, Picoseconds at) {
  const uint64_t lines = (bytes + kLine - 1) / kLine;
  lines_ += lines;
  Femto done = 0;
  const Femto issued = Wide{at} * kFemto;
  for (uint64_t i = 0; i < lines; ++i) done = write ? write_line(issued) : read_line(issued);
  const Femto end = (done + kFemto - 1) / kFemto;
  if (end >= kNever)
    throw std::overflow_error("a CXL access ends after the last picosecond that a clock can hold");
  return static_cast<Picoseconds>(end);
}

}  // namespace weft
