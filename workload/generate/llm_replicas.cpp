// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_replicas.h"

#include <string>
#include <utility>

namespace weft::generate {
namespace {

namespace pb = ChakraProtoMsg;

/// Adam in mixed precision, per parameter: bytes of an fp32 master weight and two fp32 moments, each read and
/// written (gradient and weight come on top).
constexpr uint64_t kOptimizerStateBytes = 24;

std::string prefixed(bool expert, const char* name) {
  return (expert ? "expert_" : "") + std::string(name);
}

}  // namespace

NodeIds LlmReplicas::use(const Weights& unit, bool is_backward) {
  const NodeId after = std::exchange(unit_start_, nodes_.stream());
  NodeIds gathered;
  if (shape_.zero < 3 || (is_backward && shape_.keep_weights)) return gathered;
  for (const bool expert : {false, true}) {
    const uint64_t parameters = expert ? unit.expert : unit.dense;
    const Kind kind = shape_.shard_kind(expert);
    if (parameters == 0 || shape_.members(kind) == 1) continue;
    gathered.push_back(nodes_.collective(prefixed(expert, "weights.all_gather"), pb::ALL_GATHER, kind,
                                         shape_.weight_shard(parameters, expert), {}, after));
  }
  return gathered;
}

void LlmReplicas::gradients(const Weights& block, const NodeIds& dense, const NodeIds& expert, bool is_last,
                            bool may_close) {
  if (is_last) blocks_.push_back(block);
  collect(false, block.dense, dense, is_last);
  collect(true, block.expert, expert, is_last);
  if (!may_close) return;
  for (const bool of_experts : {false, true})
    if (buckets_[of_experts].bytes >= shape_.bucket) reduce(of_experts, is_last);
}

void LlmReplicas::collect(bool expert, uint64_t parameters, const NodeIds& parts, bool is_last) {
  if (parts.empty()) return;
  if (shape_.members(shape_.shard_kind(expert)) == 1 || (!is_last && shape_.zero < 2)) {
    if (is_last) reduced_.insert(reduced_.end(), parts.begin(), parts.end());
    return;
  }
  Bucket& bucket = buckets_[expert];
  bucket.ready.insert(bucket.ready.end(), parts.begin(), parts.end());
  bucket.bytes = sum({bucket.bytes, product({parameters, shape_.gradient})});
}

void LlmReplicas::reduce(bool expert, bool is_last) {
  Bucket& bucket = buckets_[expert];
  if (bucket.ready.empty()) return;
  const Kind kind = shape_.shard_kind(expert);
  const bool scatter = shape_.zero > 0;
  NodeId done =
      nodes_.collective(prefixed(expert, scatter ? "gradients.reduce_scatter" : "gradients.all_reduce"),
                        scatter ? pb::REDUCE_SCATTER : pb::ALL_REDUCE, kind, bucket.bytes, bucket.ready);
  // The copies of a shard add up what all microbatches have left there.
  if (!expert && shape_.hybrid && is_last)
    done = nodes_.collective("gradients.copies.all_reduce", pb::ALL_REDUCE, kCopies,
                             ceil_div(bucket.bytes, shape_.members(kind)), {done});
  reduced_.push_back(done);
  bucket = {};
}

void LlmReplicas::drain(bool is_last) {
  for (const bool expert : {false, true}) reduce(expert, is_last);
}

void LlmReplicas::gather_updated(const Weights& block, NodeId step) {
  for (const bool expert : {false, true}) {
    const uint64_t parameters = expert ? block.expert : block.dense;
    const Kind kind = shape_.shard_kind(expert);
    if (parameters == 0 || shape_.members(kind) == 1) continue;
    nodes_.wait_for(nodes_.collective(prefixed(expert, "weights.all_gather"), pb::ALL_GATHER, kind,
                                      shape_.weight_shard(parameters, expert), {step}));
  }
}

void LlmReplicas::optimizer() {
  nodes_.prefix("optimizer.");
  uint64_t parameters = 0;
  for (const Weights& block : blocks_)
    for (const bool expert : {false, true}) {
      const uint64_t local = expert ? block.expert : block.dense;
      const uint64_t ranks = shape_.zero > 0 ? shape_.members(shape_.shard_kind(expert)) : 1;
      parameters = sum({parameters, ceil_div(local, ranks)});
    }
  if (shape_.async) std::swap(reduced_, before_);
  const NodeId step =
      nodes_.compute("step", "OPTIMIZER", product({kOptimizerOps, parameters}),
                     product({kOptimizerStateBytes + shape_.gradient + shape_.dtype, parameters}), reduced_);
  reduced_.clear();
  if (shape_.zero == 1 || shape_.zero == 2)
    for (const Weights& block : blocks_) gather_updated(block, step);
  blocks_.clear();
}

}  // namespace weft::generate
