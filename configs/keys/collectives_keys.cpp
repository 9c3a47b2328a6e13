// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of collectives and of the rules for some of them.

#include <algorithm>

#include "configs/algorithms.h"
#include "configs/keys/key_table.h"
#include "configs/notation.h"

namespace weft {
namespace {

template <auto Member>
constexpr Field in_collectives = field<&Config::collectives, Member>;

void set_reduction(Config& config, const Value& value) {
  const auto& setting = std::get<ReductionSetting>(value);
  config.collectives.reduction = setting.kind;
  config.collectives.reduction_bandwidth = setting.bandwidth;
}

Value reduction(const Config& config) {
  return ReductionSetting{config.collectives.reduction, config.collectives.reduction_bandwidth};
}

std::vector<Choice> operations() {
  std::vector<Choice> choices;
  for (int op = 0; op < kCollectiveOps; ++op)
    choices.push_back({to_string(static_cast<CollectiveOp>(op)), true, ""});
  return choices;
}

std::vector<Choice> orders() {
  std::vector<Choice> choices;
  for (int order = 0; order < kCollectiveOrders; ++order)
    choices.push_back({to_string(static_cast<CollectiveOrder>(order)), true, ""});
  return choices;
}

constexpr KeyRow kCollectivesKeys[] = {
    {"chunks", Type::integer, "auto", from(1, 65535).or_word("auto"),
     in_collectives<&CollectivesConfig::chunks>,
     "Pieces that a collective's data is split into. Chunks follow each other through the dimensions, like a "
     "pipeline. `auto`: as many, up to 4, as keep the serialisation of a chunk above the latency of its "
     "steps on the slowest dimension (docs/guide/collective_settings.md has the formula). Small collectives "
     "are then one chunk."},
    {"active_chunks_per_dimension", Type::integer, "1", from(1, 1048576),
     in_collectives<&CollectivesConfig::active_chunks_per_dimension>,
     "Chunks of a collective that run in one dimension at the same time. They share its links."},
    {"queues_per_dimension", Type::integer, "1", from(1, 64),
     in_collectives<&CollectivesConfig::queues_per_dimension>,
     "Scheduling queues of a dimension. On a ring each queue uses one direction: 1 uses one direction, 2 use "
     "both."},
    {"direct_window", Type::integer, "unlimited", from(1, kMaxNpus).or_word("unlimited"),
     in_collectives<&CollectivesConfig::direct_window>,
     "Messages that an NPU has in flight in one round of the direct algorithm."},
    {"order", Type::choice, "local_bw_aware",
     one_of({{"baseline", "an all-reduce of the full size in every dimension in turn"},
             {"local_bw_aware",
              "reduce-scatter inwards to outwards, all-reduce on the last dimension, all-gather back"},
             {"round_robin", "as local_bw_aware, but chunk c begins with dimension c"},
             {"themis",
              "greedy, per chunk: the least loaded dimension takes the largest part (all-reduce, "
              "reduce-scatter, all-gather)"},
             {"themis_flex",
              "as themis, but the all-gathers of an all-reduce have a greedy order of their own instead of "
              "the reverse of the reduce-scatters (for chunks that divide evenly over the members)"},
             {"enhanced",
              "all-reduce as in ASTRA-sim 1.0's paper: reduce-scatter in the first `scatter_dimensions`, an "
              "all-reduce in each other dimension, all-gather back"}}),
     in_collectives<&CollectivesConfig::order>, "Order in which a collective's phases visit the dimensions."},
    {"scatter_dimensions", Type::integer, "1", from(1, 32),
     in_collectives<&CollectivesConfig::scatter_dimensions>,
     "With `order: enhanced`: how many dimensions, from dimension 0 on, an all-reduce scatters over. A "
     "collective that none of them takes part in all-reduces in each of its dimensions in turn."},
    {"scheduling", Type::choice, "lifo",
     one_of({{"lifo", "the newest collective first"},
             {"fifo", "the oldest collective first"},
             {"priority", "by the trace's priority"}}),
     in_collectives<&CollectivesConfig::scheduling>, "Which of several waiting collectives runs first."},
    {"scheduling_scope", Type::choice, "every_phase",
     one_of({{"every_phase", "in the ready queue and in every queue of every phase"},
             {"issue", "in the ready queue only; the queues of the phases are served in order of arrival"}}),
     in_collectives<&CollectivesConfig::scheduling_scope>,
     "Where `scheduling` and priorities decide. The ready queue holds chunks that `dispatch_threshold` keeps "
     "back."},
    {"dimension_scheduling", Type::choice, "fifo",
     one_of({{"fifo", "in the order of arrival"},
             {"rg", "reduce-scatter and all-gather in turn"},
             {"smallest_first", "the shortest phase first"},
             {"less_remaining_phase_first", "the chunk with the fewest phases to go first"}}),
     in_collectives<&CollectivesConfig::dimension_scheduling>,
     "Which of the chunks that wait for a dimension runs first, within one collective."},
    {"dispatch_threshold", Type::integer, "unlimited", from(1, 65535).or_word("unlimited"),
     in_collectives<&CollectivesConfig::dispatch_threshold>,
     "The dispatcher's T: waiting collectives issue new chunks while fewer chunks than this are in their "
     "first phase."},
    {"dispatch_batch", Type::integer, "1", from(1, 65535), in_collectives<&CollectivesConfig::dispatch_batch>,
     "The dispatcher's P: chunks that are issued at once."},
    {"reduction", Type::reduction, "none", kAnyBandwidth, custom_field<set_reduction, reduction>,
     "Cost of reducing a received block (2 reads, 1 write). `none`: no cost; `{bandwidth: X}`: a delay of 3 "
     "x bytes / X; `hbm`: real accesses that contend in the HBM."},
};

/// One key for each operation: its algorithms.
void add_algorithm_keys(KeyTable& table) {
  for (int op = 0; op < kCollectiveOps; ++op) {
    const char* const name = to_string(static_cast<CollectiveOp>(op));
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', '-');
    const std::string description =
        "Algorithm of " + words +
        ": a list with one name for each dimension, or one name for all. `custom` and the `one_` algorithms "
        "run the whole operation and are named once for all dimensions.";
    KeySpec& key = table.add(
        "collectives", {name, Type::algorithms, kDefaultAlgorithm, kAny,
                        element<&Config::collectives, &CollectivesConfig::algorithms>, description.c_str()});
    key.index = static_cast<std::size_t>(op);
  }
}

constexpr KeyRow kRuleKeys[] = {
    {"group", Type::text, kOptional, at_least(1), field_if_set<&CollectiveRule::group>,
     "The rule matches collectives of this communicator group. `0` is the group of all ranks."},
    {"name", Type::text, kOptional, at_least(1), field_if_set<&CollectiveRule::name>,
     "The rule matches collectives whose trace nodes have such a name. `*` stands for any text, `?` for one "
     "character. The nodes of all members must match the same rule."},
    {"operation", Type::choice, kOptional, one_of(operations), field<&CollectiveRule::operation>,
     "The rule matches this operation."},
    {"min_bytes", Type::size, kOptional, from("0 B", "1024 PiB"), field<&CollectiveRule::min_bytes>,
     "The rule matches collectives of at least this size: the size that a trace node or `--size` gives."},
    {"max_bytes", Type::size, kOptional, from("0 B", "1024 PiB"), field<&CollectiveRule::max_bytes>,
     "The rule matches collectives of at most this size."},
    {"iteration", Type::integer, kOptional, from(0, 4294967295), field<&CollectiveRule::iteration>,
     "The rule matches this training iteration, which is read as for `topology.fidelity_rules[].iteration`. "
     "Only with `delay`."},
    {"occurrence", Type::integer, kOptional, from(1, 4294967295), field<&CollectiveRule::occurrence>,
     "The rule matches the n-th, from 1, of the collectives of a communicator group that meet its other "
     "conditions. Only with `delay`."},
    {"delay", Type::time, kOptional, from("0 ns", "1000 s"), field<&CollectiveRule::delay>,
     "A what-if delay: each member waits so long before it sends the collective's first message. The first "
     "matching rule with a `delay` applies, whatever rules with settings say. A rule with a `delay` has no "
     "settings beside it. (docs/guide/what_if_delays.md)"},
    {"algorithms", Type::algorithms, kOptional, kAny, field_if_set<&CollectiveRule::algorithms>,
     "Algorithms, as in `collectives.all_reduce`: a list with one name for each dimension, or one name for "
     "all."},
    {"order", Type::choice, kOptional, one_of(orders), field<&CollectiveRule::order>,
     "Order of phases, as `collectives.order`."},
    {"chunks", Type::integer, kOptional, from(1, 65535).or_word("auto"), field<&CollectiveRule::chunks>,
     "Chunks, as `collectives.chunks`."},
    {"priority", Type::integer, kOptional, from(0, 2147483647), field<&CollectiveRule::priority>,
     "Priority, in place of the trace's. For `scheduling: priority`."},
};

}  // namespace

void add_collectives_keys(KeyTable& table) {
  table.add("collectives", kCollectivesKeys);
  add_algorithm_keys(table);
  table.add("collectives.rules[]", kRuleKeys);
}

}  // namespace weft
