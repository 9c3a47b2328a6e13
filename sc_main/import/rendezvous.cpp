// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/import/rendezvous.h"

#include <fmt/format.h>

#include <cmath>

#include "configs/units.h"
#include "sc_main/import/logical_ends.h"

namespace weft::cli::import {
namespace {

Picoseconds time_of(const std::string& text) {
  return text.empty() ? 0 : parse_time(text);
}

/// Of a control message between neighbours, as a message of the dimension takes it.
Picoseconds control_time(const ImportedDimension& d, bool store_and_forward) {
  const uint64_t hops = d.kind == "Switch" ? 2 : 1;
  const double rate = parse_bandwidth_value(d.bandwidth) * static_cast<double>(d.links);
  const double transfers = store_and_forward ? static_cast<double>(hops) : 1;
  return hops * time_of(d.latency) + time_of(d.router) + 2 * time_of(d.nic) +
         static_cast<Picoseconds>(
             std::llround(transfers * static_cast<double>(kRendezvousBytes) / rate * 1e12));
}

}  // namespace

bool add_rendezvous(Imported& imported) {
  if (imported.dimensions.empty() || !imported.notation.empty()) return false;
  for (ImportedDimension& d : imported.dimensions) {
    if (d.size < 2) continue;
    const Picoseconds control = control_time(d, imported.switching == "store_and_forward");
    d.nic = fmt::format("{} ps", time_of(d.nic) + (control + 1) / 2);
  }
  move_ends_to_links(imported);
  imported.remarks.push_back(fmt::format(
      "--rendezvous-protocol: topology.dimensions[].{} has the time of a control message of {} B "
      "between neighbours, half at either end of every message; the control messages take no bandwidth",
      imported.logical.empty() ? "nic_latency" : "latency", kRendezvousBytes));
  return true;
}

}  // namespace weft::cli::import
