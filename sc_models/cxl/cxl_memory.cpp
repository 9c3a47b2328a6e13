// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/cxl/cxl_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

CxlMemory::CxlMemory(sc_core::sc_module_name name, const CxlConfig& config, const MemoryContext& context)
    : MemoryTarget(name, context.figures.capacity, context.sockets, context.probes), link_(config) {
  if (context.probes == nullptr || !context.probes->on()) return;
  const vcd::Probe reads = context.probes->number(std::string(this->name()) + ".read_credits", 32);
  const vcd::Probe writes = context.probes->number(std::string(this->name()) + ".write_credits", 32);
  if (!reads && !writes) return;
  reads.set(0, link_.credits(false));
  writes.set(0, link_.credits(true));
  link_.watch_credits([reads, writes](bool write, Picoseconds from, Picoseconds until) {
    (write ? writes : reads).add({from}, -1);
    (write ? writes : reads).add({until}, 1);
  });
}

std::unique_ptr<MemoryTarget> make_cxl_memory(sc_core::sc_module_name name, const MemoryContext& context,
                                              Parameters& parameters) {
  const CxlConfig config = cxl_config(parameters);
  // The job's lower bound is computed from the configured bandwidth and latency.
  const double fastest = std::max(config.read_bandwidth(), config.write_bandwidth());
  if (context.figures.bandwidth.value() < fastest)
    parameters.refuse(
        "preset",
        fmt::format("the link of {} carries {:.4g} GB/s of data, and the memory's key `bandwidth` is {:.4g} "
                    "GB/s; give `bandwidth` the {:.4g} GB/s that the link has raw, or fewer `lanes`",
                    config.preset, fastest * 1e-9, context.figures.bandwidth.value() * 1e-9,
                    config.raw_bandwidth() * 1e-9));
  if (context.figures.latency > config.idle_latency())
    parameters.refuse(
        "preset",
        fmt::format("an access of {} takes {} ps, and the memory's key `latency` is {} ps; give `latency: 0 "
                    "ns`: the link and the device have latencies of their own",
                    config.preset, config.idle_latency(), context.figures.latency));
  return std::make_unique<CxlMemory>(name, config, context);
}

void CxlMemory::begin(Ticket ticket, const Access& access, Picoseconds at) {
  const Picoseconds done = link_.access(access.length, access.write, at);
  if (bytes_probe_) bytes_probe_.set(done, bytes());
  if (causes_ != nullptr) {
    CxlConfig config = link_.config();
    config.bit_error_rate = 0;
    const double rate = access.write ? config.write_bandwidth() : config.read_bandwidth();
    const auto time_of = [&](uint64_t n) {
      return static_cast<Picoseconds>(static_cast<double>(n) / rate * 1e12);
    };
    constexpr uint64_t kLine = 64;
    const uint64_t lines = (access.length + kLine - 1) / kLine;
    const Picoseconds idle = CxlLink(config).access(kLine, access.write, 0);
    causes_->overlapped(ticket, done, time_of(lines * kLine), idle - std::min(idle, time_of(kLine)));
  }
  finish(ticket, done);
}

}  // namespace weft
