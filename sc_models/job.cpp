// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

}  // namespace

Job::Job(Machine& machine, std::shared_ptr<collectives::PlanBuilder> plans,
         std::shared_ptr<collectives::Rules> rules)
    : machine_(machine),
      config_(machine.config()),
      plans_(plans != nullptr ? std::move(plans) : std::make_shared<collectives::PlanBuilder>(config_)),
      rules_(rules != nullptr ? std::move(rules) : std::make_shared<collectives::Rules>(config_, *plans_)),
      origin_(sc_core::sc_time_stamp().value()),
      book_(machine.data(), origin_) {}

Job::~Job() = default;

std::string Job::stall_report() const {
  return stalled_ranks() + machine_.explain_stall();
}

RunResult Job::result() const {
  return with_machine(own_result());
}

RunResult Job::take_result() {
  return with_machine(take_own_result());
}

RunResult Job::with_machine(RunResult result) const {
  add_machine_results(result, machine_, folded_ranks());
  append(result.warnings, unmatched_rules());
  append(result.warnings, machine_.fidelity().unmatched());
  append(result.warnings, machine_.slot_warnings(result.out_of_order_starts));
  return result;
}

void Job::count(Counts& counts, uint32_t npu, uint64_t times) const {
  const NmuModel& nmu = machine_.nmu(npu);
  counts.messages += times * nmu.messages_delivered();
  counts.out_of_order_starts += times * nmu.out_of_order_starts();
  counts.memory_bytes += times * machine_.memory_bytes(npu);
}

void Job::add_findings(RunResult& result) const {
  result.data_collectives = book_.verified_collectives();
  result.data_elements = book_.verified_elements();
  book_.report_wrong_data(result.broken_invariants);
  for (const CollectiveRow& row : result.collectives) {
    if (row.members_done == row.ranks && row.time() < row.lower_bound) {
      result.broken_invariants.push_back(fmt::format(
          "collective {} ({}, {} B, group `{}`) took {} ps, less than its physical lower bound of {} ps",
          row.stream, to_string(row.op), row.bytes, row.group.str(), row.time(), row.lower_bound));
    }
  }
  for (const RankRow& rank : result.ranks) {
    if (rank.time.total() != result.time) {
      result.broken_invariants.push_back(
          fmt::format("rank {}: the categories add up to {} ps, the job took {} ps", rank.rank,
                      rank.time.total(), result.time));
    }
  }
}

void Job::add_fidelity_results(RunResult& result, const std::vector<uint64_t>& sends) const {
  const graph::FidelityRules& rules = machine_.fidelity();
  if (!rules.any()) return;
  const auto count = static_cast<uint32_t>(config_.fidelity_rules.size());
  result.fidelity_uses.resize(count + size_t{1});
  for (uint32_t i = 0; i < count; ++i) {
    result.fidelity_uses[i + size_t{1}] = {i, 0, i < sends.size() ? sends[i] : 0};
  }
  for (const CollectiveRow& row : result.collectives) {
    const bool ruled = row.fidelity_rule != graph::FidelityRules::kNone;
    FidelityUse& use = result.fidelity_uses[ruled ? row.fidelity_rule + size_t{1} : 0];
    ++use.collectives;
    if (ruled) use.messages += row.messages;
  }
  uint64_t of_rules = 0;
  for (uint32_t i = 0; i < count; ++i) of_rules += result.fidelity_uses[i + size_t{1}].messages;
  result.fidelity_uses[0].messages = result.messages - std::min(result.messages, of_rules);
}

}  // namespace weft
