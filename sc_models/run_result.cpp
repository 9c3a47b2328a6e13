// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sc_models/part_results.h"

namespace weft {
namespace {

void add_links(RunResult& result, const Machine& machine, const graph::Folding* folding) {
  const auto add = [&](const LinkReport& report) { result.links.push_back(link_row(report)); };
  if (folding == nullptr) {
    machine.for_each_link(add);
    return;
  }
  for (uint32_t r = 0; r < machine.npus(); ++r) {
    machine.for_each_link_as(NpuId{r}, NpuId{folding->representative(r)}, folding->link_images(r), add);
  }
  for (uint32_t r = 0; r < machine.npus(); ++r)
    machine.for_each_host_link_as(NpuId{r}, NpuId{folding->representative(r)}, add);
  machine.for_each_switch_link_as([&](uint32_t r) { return folding->representative(r); }, add);
}

void warn_of_overruns(RunResult& result) {
  const auto overrun =
      std::max_element(result.links.begin(), result.links.end(),
                       [](const LinkRow& a, const LinkRow& b) { return a.overruns < b.overruns; });
  if (overrun != result.links.end() && overrun->overruns != 0) {
    uint64_t all = 0;
    for (const LinkRow& row : result.links) all += row.overruns;
    result.warnings.push_back(
        fmt::format("priority flow control: {} packets found a full buffer without having been paused (most, "
                    "{}, on {}); a lossless link would have dropped them, here they waited. Lower "
                    "`packet.pfc_xoff` or enlarge `packet.buffer_flits` (see `overruns` in links.csv)",
                    all, overrun->overruns, overrun->name));
  }
}

/// What the machine's parts have counted.
void add_sums(RunResult& result, const Machine::Totals& totals) {
  result.events = totals.activations;
  result.packet_hops = totals.packet_hops;
  result.flits = totals.flits;
  result.trains = totals.trains;
}

void add_findings(RunResult& result, const std::vector<std::string>& unbalanced, const Machine& machine) {
  warn_of_overruns(result);
  result.broken_invariants.insert(result.broken_invariants.begin(), unbalanced.begin(), unbalanced.end());
  result.unbalanced = unbalanced.size();
  result.warnings.insert(result.warnings.end(), machine.warnings().begin(), machine.warnings().end());
  for (std::string& line : machine.warnings_of_modules()) result.warnings.push_back(std::move(line));
}

}  // namespace

void drop_unbalanced(RunResult& result) {
  const auto begin = result.broken_invariants.begin();
  result.broken_invariants.erase(begin, begin + static_cast<std::ptrdiff_t>(result.unbalanced));
  result.unbalanced = 0;
}

void add_machine_parts(RunResult& result, const Machine& machine, MachinePart&& parts) {
  add_sums(result, parts.totals);
  for (auto& [at, row] : parts.links) result.links.push_back(std::move(row));
  std::vector<std::string> unbalanced = Machine::unbalanced_sums(parts.totals);
  unbalanced.insert(unbalanced.end(), parts.unbalanced.begin(), parts.unbalanced.end());
  add_findings(result, unbalanced, machine);
}

void add_machine_results(RunResult& result, const Machine& machine, const graph::Folding* folding) {
  const Machine::Totals totals = machine.totals();
  add_sums(result, totals);
  if (machine.config().packet.ecn.enabled) result.congestion = machine.congestion();
  result.links.reserve(totals.links);  // more where ranks stand for others
  add_links(result, machine, folding);
  add_findings(result, machine.check_conservation(), machine);
}

}  // namespace weft
