// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of collectives.

#include <algorithm>
#include <string>

#include "configs/algorithms.h"
#include "configs/keys/key_table.h"
#include "configs/notation.h"

namespace weft {

void add_collectives_keys(KeyTable& table) {
  const auto add = [&table](const std::string& path, ValueType type) -> KeySpec& {
    return table.add(path, type);
  };

  {
    KeySpec& k = add("collectives.chunks", ValueType::integer);
    k.fallback = "auto";
    k.min = "1";
    k.max = "65535";
    k.zero_word = "auto";
    k.description =
        "Pieces that a collective's data is split into. Chunks follow each other through the dimensions, "
        "like a pipeline. `auto`: as many, up to 4, as keep the serialisation of a chunk above the latency "
        "of its steps on the slowest dimension (docs/guide/collective_settings.md has the formula). Small "
        "collectives are then one chunk.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.chunks = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.chunks}; };
  }
  {
    KeySpec& k = add("collectives.active_chunks_per_dimension", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "1048576";
    k.description =
        "Chunks of a collective that run in one dimension at the same time. They share its links.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.active_chunks_per_dimension = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value {
      return uint64_t{c.collectives.active_chunks_per_dimension};
    };
  }
  {
    KeySpec& k = add("collectives.queues_per_dimension", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "64";
    k.description =
        "Scheduling queues of a dimension. On a ring each queue uses one direction: 1 uses one direction, 2 "
        "use both.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.queues_per_dimension = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.queues_per_dimension}; };
  }
  {
    KeySpec& k = add("collectives.direct_window", ValueType::integer);
    k.fallback = "unlimited";
    k.min = "1";
    k.max = std::to_string(kMaxNpus);
    k.zero_word = "unlimited";
    k.description = "Messages that an NPU has in flight in one round of the direct algorithm.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.direct_window = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.direct_window}; };
  }
  {
    KeySpec& k = add("collectives.order", ValueType::choice);
    k.fallback = to_string(CollectiveOrder::local_bw_aware);
    k.choices = {
        {to_string(CollectiveOrder::baseline), true,
         "an all-reduce of the full size in every dimension in turn"},
        {to_string(CollectiveOrder::local_bw_aware), true,
         "reduce-scatter inwards to outwards, all-reduce on the last dimension, all-gather back"},
        {to_string(CollectiveOrder::round_robin), true,
         "as local_bw_aware, but chunk c begins with dimension c"},
        {to_string(CollectiveOrder::themis), true,
         "greedy, per chunk: the least loaded dimension takes the largest part (all-reduce, reduce-scatter, "
         "all-gather)"},
        {to_string(CollectiveOrder::themis_flex), true,
         "as themis, but the all-gathers of an all-reduce have a greedy order of their own instead "
         "of the reverse of the reduce-scatters (for chunks that divide evenly over the members)"}};
    k.description = "Order in which a collective's phases visit the dimensions.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.collectives.order = named<CollectiveOrder>(std::get<std::string>(v), to_string, kCollectiveOrders);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.collectives.order)); };
  }
  {
    KeySpec& k = add("collectives.scheduling", ValueType::choice);
    k.fallback = to_string(CollectiveScheduling::lifo);
    k.choices = {{to_string(CollectiveScheduling::lifo), true, "the newest collective first"},
                 {to_string(CollectiveScheduling::fifo), true, "the oldest collective first"},
                 {to_string(CollectiveScheduling::priority), true, "by the trace's priority"}};
    k.description = "Which of several waiting collectives runs first.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.collectives.scheduling = named<CollectiveScheduling>(std::get<std::string>(v), to_string, 3);
    };
    k.get = [](const Config& c, size_t) -> Value { return std::string(to_string(c.collectives.scheduling)); };
  }
  {
    KeySpec& k = add("collectives.dimension_scheduling", ValueType::choice);
    k.fallback = to_string(DimensionScheduling::fifo);
    k.choices = {{to_string(DimensionScheduling::fifo), true, "in the order of arrival"},
                 {to_string(DimensionScheduling::rg), true, "reduce-scatter and all-gather in turn"},
                 {to_string(DimensionScheduling::smallest_first), true, "the shortest phase first"},
                 {to_string(DimensionScheduling::less_remaining_phase_first), true,
                  "the chunk with the fewest phases to go first"}};
    k.description = "Which of the chunks that wait for a dimension runs first, within one collective.";
    k.set = [](Config& c, size_t, const Value& v) {
      c.collectives.dimension_scheduling = named<DimensionScheduling>(std::get<std::string>(v), to_string, 4);
    };
    k.get = [](const Config& c, size_t) -> Value {
      return std::string(to_string(c.collectives.dimension_scheduling));
    };
  }
  {
    KeySpec& k = add("collectives.dispatch_threshold", ValueType::integer);
    k.fallback = "unlimited";
    k.min = "1";
    k.max = "65535";
    k.zero_word = "unlimited";
    k.description =
        "The dispatcher's T: waiting collectives issue new chunks while fewer chunks than this are in their "
        "first phase.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.dispatch_threshold = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.dispatch_threshold}; };
  }
  {
    KeySpec& k = add("collectives.dispatch_batch", ValueType::integer);
    k.fallback = "1";
    k.min = "1";
    k.max = "65535";
    k.description = "The dispatcher's P: chunks that are issued at once.";
    k.set = [](Config& c, size_t, const Value& v) { c.collectives.dispatch_batch = as_u32(v); };
    k.get = [](const Config& c, size_t) -> Value { return uint64_t{c.collectives.dispatch_batch}; };
  }
  {
    KeySpec& k = add("collectives.reduction", ValueType::reduction);
    k.fallback = "none";
    k.min = kMinBandwidth;
    k.max = kMaxBandwidth;
    k.description =
        "Cost of reducing a received block (2 reads, 1 write). `none`: no cost; `{bandwidth: X}`: a delay "
        "of 3 x bytes / X; `hbm`: real accesses that contend in the HBM.";
    k.set = [](Config& c, size_t, const Value& v) {
      const auto& r = std::get<ReductionSetting>(v);
      c.collectives.reduction = r.kind;
      c.collectives.reduction_bandwidth = r.bandwidth;
    };
    k.get = [](const Config& c, size_t) -> Value {
      return ReductionSetting{c.collectives.reduction, c.collectives.reduction_bandwidth};
    };
  }
  for (int op = 0; op < kCollectiveOps; ++op) {
    const std::string name = to_string(static_cast<CollectiveOp>(op));
    KeySpec& k = add(("collectives." + name), ValueType::algorithms);
    k.fallback = kDefaultAlgorithm;
    k.index = static_cast<size_t>(op);
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', '-');
    k.description =
        "Algorithm of " + words +
        ": a list with one name for each dimension, or one name for all. `custom` and the `one_` algorithms "
        "run the whole operation and are named once for all dimensions.";
    k.set = [](Config& c, size_t i, const Value& v) {
      c.collectives.algorithms[i] = std::get<std::vector<std::string>>(v);
    };
    k.get = [](const Config& c, size_t i) -> Value { return c.collectives.algorithms[i]; };
  }
  {
    KeySpec& k = add("collectives.rules[].group", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description = "The rule matches collectives of this communicator group. `0` is the group of all ranks.";
  }
  {
    KeySpec& k = add("collectives.rules[].name", ValueType::text);
    k.optional = true;
    k.min = "1";  // characters
    k.description =
        "The rule matches collectives whose trace nodes have such a name. `*` stands for any text, `?` for "
        "one character. The nodes of all members must match the same rule.";
  }
  {
    KeySpec& k = add("collectives.rules[].operation", ValueType::choice);
    k.optional = true;
    for (int op = 0; op < kCollectiveOps; ++op)
      k.choices.push_back({to_string(static_cast<CollectiveOp>(op)), true, ""});
    k.description = "The rule matches this operation.";
  }
  {
    KeySpec& k = add("collectives.rules[].algorithms", ValueType::algorithms);
    k.optional = true;
    k.description =
        "Algorithms, as in `collectives.all_reduce`: a list with one name for each dimension, or one name "
        "for all.";
  }
  {
    KeySpec& k = add("collectives.rules[].order", ValueType::choice);
    k.optional = true;
    for (int order = 0; order < kCollectiveOrders; ++order)
      k.choices.push_back({to_string(static_cast<CollectiveOrder>(order)), true, ""});
    k.description = "Order of phases, as `collectives.order`.";
  }
  {
    KeySpec& k = add("collectives.rules[].chunks", ValueType::integer);
    k.optional = true;
    k.min = "1";
    k.max = "65535";
    k.zero_word = "auto";
    k.description = "Chunks, as `collectives.chunks`.";
  }
  {
    KeySpec& k = add("collectives.rules[].priority", ValueType::integer);
    k.optional = true;
    k.min = "0";
    k.max = "2147483647";
    k.description = "Priority, in place of the trace's. For `scheduling: priority`.";
  }
}

}  // namespace weft
