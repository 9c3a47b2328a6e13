// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/import/logical_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "configs/units.h"

namespace weft::cli::import {
namespace {

const char* const kInterfaces = "topology.dimensions[].nic_latency";
const char* const kFirstEndpoint = "topology.dimensions[0].endpoint_delay";

/// A message has two interfaces: on a Switch one for each of its hops, elsewhere both for its one hop to a
/// neighbour.
bool move(ImportedDimension& d) {
  if (d.nic.empty()) return false;
  const Picoseconds nic = parse_time(d.nic);
  d.latency = print_time(parse_time(d.latency) + (d.kind == "Switch" ? nic : 2 * nic));
  d.nic.clear();
  return true;
}

}  // namespace

void move_ends_to_links(Imported& imported) {
  if (imported.logical.empty()) return;
  bool moved = false, far = false;
  uint64_t wide = 0;
  for (ImportedDimension& d : imported.dimensions) {
    wide += d.size > 1 ? 1 : 0;
    if (!move(d)) continue;
    moved = true;
    far = far || (d.kind == "Ring" && d.size > 3);
  }
  far = far || (moved && wide > 1);
  for (ReportRow& row : imported.report) {
    if (!moved || row.weft != kInterfaces) continue;
    row.weft = "topology.dimensions[].latency";
    row.verdict = far ? Verdict::approximate : Verdict::exact;
    row.why =
        far ? "machines with a logical topology have it in the links' latency: exact for messages between "
              "neighbours, too much for those of several hops"
            : "machines with a logical topology have it in the links' latency";
  }
  if (imported.local_endpoint.empty()) return;
  imported.local_endpoint.clear();
  const auto said = [](const std::string& remark) { return remark.rfind(kFirstEndpoint, 0) == 0; };
  imported.remarks.erase(std::remove_if(imported.remarks.begin(), imported.remarks.end(), said),
                         imported.remarks.end());
  imported.remarks.push_back(
      "nmu.endpoint_delay: machines with a logical topology have one for all dimensions, but the first "
      "public "
      "code's local dimension has 10 cycles: its messages differ by the rest");
}

}  // namespace weft::cli::import
