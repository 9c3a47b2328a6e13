// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/dram_spec.h"

#include <algorithm>

#include "configs/config.h"

namespace weft {
namespace {

constexpr Picoseconds ns(double n) {
  return static_cast<Picoseconds>(n * 1000 + 0.5);
}

// JESD235: 8 channels of 128 bits, two pseudo-channels of 64 each, burst length 4, 2 Gb/s a pin. Timing of a
// common 8 Gb device as public DRAM simulators have it.
DramSpec hbm2() {
  DramSpec s;
  s.name = "HBM2";
  s.channels = 8;
  s.clock = ns(1);
  s.burst = ns(2);
  s.rcd_read = ns(12);
  s.rcd_write = ns(6);
  s.rp = ns(14);
  s.ras = ns(28);
  s.rc = ns(42);
  s.rtp = ns(5);
  s.wr = ns(14);
  s.rl = ns(17);
  s.wl = ns(7);
  s.ccd_short = ns(2);
  s.ccd_long = ns(3);
  s.rrd_short = ns(4);
  s.rrd_long = ns(6);
  s.faw = ns(16);
  s.rtw = ns(18);
  s.wtr_short = ns(4);
  s.wtr_long = ns(9);
  s.refi = ns(3900);
  s.rfc = ns(220);
  s.rfc_bank = ns(96);
  s.controller = ns(2);
  return s;
}

// JESD235C at 3.2 Gb/s a pin: the array is that of HBM2, the pins are faster. Its timing is unverified.
DramSpec hbm2e() {
  DramSpec s = hbm2();
  s.name = "HBM2E";
  s.clock = ns(0.625);
  s.burst = ns(1.25);
  s.ccd_short = ns(1.25);
  s.ccd_long = ns(2.5);
  s.rrd_short = ns(2.5);
  s.rrd_long = ns(3.75);
  s.rfc = ns(260);
  return s;
}

// JESD238: 16 channels of 64 bits, two pseudo-channels of 32 each, burst length 8, 6.4 Gb/s a pin, commands
// at a quarter of that. No vendor publishes the array's timing: figures between those of public simulators,
// unverified, with the refresh loss of 7.7 % and the rates of golden/hbm.json.
DramSpec hbm3() {
  DramSpec s;
  s.name = "HBM3";
  s.channels = 16;
  s.clock = ns(0.625);
  s.burst = ns(1.25);
  s.rcd_read = ns(19);
  s.rcd_write = ns(10);
  s.rp = ns(15);
  s.ras = ns(30);
  s.rc = ns(45);
  s.rtp = ns(6);
  s.wr = ns(14);
  s.rl = ns(18);
  s.wl = ns(8);
  s.ccd_short = ns(1.25);
  s.ccd_long = ns(2.5);
  s.rrd_short = ns(2.5);
  s.rrd_long = ns(3.75);
  s.faw = ns(15);
  s.rtw = ns(20);
  s.wtr_short = ns(4);
  s.wtr_long = ns(9);
  s.refi = ns(3900);
  s.rfc = ns(260);
  s.rfc_bank = ns(120);
  s.controller = ns(2);
  return s;
}

// HBM3 with pins of 8 Gb/s (eight stacks of them give 8 TB/s). The pins are faster, the array is not: tRRD
// and tFAW keep their ns, as in Ramulator's presets for 8 to 9.6 Gb/s. Unverified.
DramSpec hbm3e() {
  DramSpec s = hbm3();
  s.name = "HBM3E";
  s.clock = ns(0.5);
  s.burst = ns(1);
  s.ccd_short = ns(1);
  s.ccd_long = ns(2);
  s.rrd_short = ns(2.5);
  s.rrd_long = ns(3.5);
  s.faw = ns(15);
  return s;
}

// JESD270-4: 32 channels of 64 bits, two pseudo-channels of 32 each, burst length 8, 8 Gb/s a pin; 32 Gb dies
// four high (16 banks, one stack ID), which gives tRFC. The standard leaves the array's timing to the
// vendors, who publish none: figures of Ramulator 2.1's preset HBM4_8000Mbps, unverified. docs/memory.md has
// them one by one.
DramSpec hbm4() {
  DramSpec s = hbm3e();
  s.name = "HBM4";
  s.channels = 32;
  s.rcd_read = ns(19.5);
  s.rcd_write = ns(9.5);
  s.rp = ns(16.5);
  s.ras = ns(28.5);
  s.rc = ns(45);
  s.rtp = ns(6);
  s.wr = ns(21);
  s.rl = ns(10);
  s.wl = ns(5);
  s.ccd_short = ns(1);
  s.ccd_long = ns(2);
  s.rrd_short = ns(2.5);
  s.rrd_long = ns(3.5);
  s.faw = ns(15);
  s.rtw = ns(12.5);
  s.wtr_short = ns(4.5);
  s.wtr_long = ns(6.5);
  s.rfc = ns(400);
  s.rfc_bank = ns(280);
  return s;
}

}  // namespace

uint32_t DramSpec::bank_queue() const {
  constexpr uint32_t kOfDramsys = 8;
  const Picoseconds turn = bank_groups * burst;
  return std::max(kOfDramsys, 1 + static_cast<uint32_t>((rp + rcd_read + turn - 1) / turn));
}

double DramSpec::pseudo_channel_peak() const {
  return burst_bytes * 1e12 / static_cast<double>(burst);
}

double DramSpec::stack_peak() const {
  return pseudo_channel_peak() * pseudo_channels * channels;
}

double DramSpec::stream_efficiency() const {
  if (refi == 0 || per_bank_refresh) return 1;
  return 1 - static_cast<double>(rfc + rtp + rp + rcd_read) / static_cast<double>(refi);
}

double DramSpec::random_rate() const {
  const double b = burst_bytes * 1e12;
  return stream_efficiency() *
         std::min({pseudo_channel_peak(), 4 * b / static_cast<double>(faw),
                   b / static_cast<double>(rrd_short), banks() * b / static_cast<double>(rc)});
}

Picoseconds DramSpec::slowest_access(uint64_t bytes) const {
  const Picoseconds burst_at_worst = controller + 2 * clock + ras + rp + std::max(rcd_read, rcd_write) +
                                     std::max(rl, wl) + burst + wr +
                                     (refi == 0 ? 0 : rp + std::max(rfc, rfc_bank));
  return saturated(static_cast<Wide>(bytes / burst_bytes + 2) * burst_at_worst);
}

const std::vector<DramSpec>& dram_specs() {
  static const std::vector<DramSpec> specs = {hbm2(), hbm2e(), hbm3(), hbm3e(), hbm4()};
  return specs;
}

const DramSpec* find_dram_spec(std::string_view name) {
  for (const DramSpec& spec : dram_specs()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

DramSpec dram_spec(const HbmConfig& config) {
  const DramSpec* const known = find_dram_spec(config.preset);
  DramSpec spec = known != nullptr ? *known : DramSpec{};
  const std::string refresh = config.refresh.substr(0, config.refresh.find('('));
  spec.per_bank_refresh = refresh == "per_bank";
  if (refresh == "none") spec.refi = 0;
  return spec;
}

Picoseconds slowest_access(const HbmConfig& config, uint64_t bytes) {
  if (config.banked()) return dram_spec(config).slowest_access(bytes);
  const auto time = static_cast<double>(any_transfer_time(bytes, config.bandwidth) + config.latency);
  return saturated(static_cast<Wide>(time / config.efficiency) + 1000);
}

DramAddress map_address(const DramSpec& spec, uint32_t stacks, uint64_t address) {
  const auto take = [&](uint64_t n) {
    const uint64_t part = address % n;
    address /= n;
    return static_cast<uint32_t>(part);
  };
  DramAddress a;
  take(spec.burst_bytes);
  a.channel = take(uint64_t{stacks} * spec.channels);
  a.pseudo_channel = take(spec.pseudo_channels);
  const uint32_t group = take(spec.bank_groups);
  take(spec.bursts_per_row());
  a.bank = group * spec.banks_per_group + take(spec.banks_per_group);
  a.row = address;
  return a;
}

}  // namespace weft
