// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/tensor_plan.h"

#include <algorithm>
#include <unordered_map>

#include "workload/trace/dependency_walk.h"
#include "workload/trace/node_cache.h"

namespace weft {
namespace {

constexpr uint64_t kWindow = 16ull << 20;  // bytes of the file at a time
constexpr uint32_t kNone = ~uint32_t{0};

}  // namespace

/// Collects the uses of node after node, in an order that the dependencies allow.
class TensorPlan::Builder {
 public:
  Builder(TensorPlan& plan, const trace::TraceIndex& index) : plan_(plan), index_(index) {
    plan_.begin_.assign(index.size(), 0);
  }

  /// Calls f(node) for every node.
  template <typename F>
  void walk(F&& f) {
    trace::NodeCache cache = index_.open_cache(kWindow);
    trace::DependencyWalk walk(index_, cache);
    for (trace::NodeIndex i = walk.take(); i != trace::kNoNode; i = walk.take()) {
      f(i);
      close(i);
      walk.finish(i);
    }
  }

  uint32_t add(uint64_t bytes, trace::NodeIndex named, bool initial) {
    Tensor tensor;
    tensor.bytes = bytes;
    tensor.named = named;
    tensor.initial = initial;
    plan_.tensors_.push_back(tensor);
    return static_cast<uint32_t>(plan_.tensors_.size() - 1);
  }

  /// The tensor of this name; made when there is none.
  uint32_t find(const std::string& name, uint64_t bytes, trace::NodeIndex node, bool initial) {
    const auto [it, fresh] = by_name_.try_emplace(name, 0);
    if (fresh) it->second = add(bytes, node, initial);
    Tensor& tensor = plan_.tensors_[it->second];
    tensor.bytes = std::max(tensor.bytes, bytes);
    return it->second;
  }

  /// The present node has it.
  void use(uint32_t tensor, bool output) {
    Tensor& of = plan_.tensors_[tensor];
    if (!output) of.read = true;
    for (uint32_t& use : own_) {
      if (use >> 2 != tensor) continue;
      if (output) use |= kOutput;
      return;
    }
    ++of.nodes;
    own_.push_back(tensor << 2 | (output ? kOutput : 0));
  }

 private:
  void close(trace::NodeIndex node) {
    if (own_.empty()) return;
    own_.back() |= kLast;
    plan_.begin_[node] = static_cast<uint32_t>(plan_.uses_.size());
    plan_.uses_.insert(plan_.uses_.end(), own_.begin(), own_.end());
    own_.clear();
  }

  TensorPlan& plan_;
  const trace::TraceIndex& index_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<uint32_t> own_;  ///< uses of the present node
};

TensorPlan::TensorPlan(const trace::TraceIndex& index) {
  Builder builder(*this, index);
  trace::NodeCache cache = index.open_cache(kWindow);
  std::vector<trace::TensorUse> uses;
  trace::Node node;
  builder.walk([&](trace::NodeIndex i) {
    index.tensors(cache, i, uses);
    const auto outputs =
        std::count_if(uses.begin(), uses.end(), [](const trace::TensorUse& use) { return use.output; });
    for (const bool output : {false, true}) {
      for (const trace::TensorUse& use : uses) {
        if (use.output != output) continue;
        uint64_t bytes = use.bytes;
        // A node's only output without a size of its own has the node's.
        if (output && outputs == 1 && bytes == 0) {
          index.decode(cache, i, node);
          bytes = node.tensor_size;
        }
        builder.use(builder.find(use.name, bytes, i, !output), output);
      }
    }
  });
}

TensorPlan::TensorPlan(const trace::TraceIndex& index, const ResultBytes& result_bytes) : estimated_(true) {
  Builder builder(*this, index);
  trace::NodeCache cache = index.open_cache(kWindow);
  std::vector<uint32_t> result(index.size(), kNone);  // of each node: its tensor
  trace::Node node;
  trace::Dependencies dependencies;
  builder.walk([&](trace::NodeIndex i) {
    index.decode(cache, i, node);
    index.written_dependencies(cache, i, dependencies);
    for (const uint64_t id : dependencies.data) {
      const trace::NodeIndex source = index.find(id, i);
      if (source != trace::kNoNode && result[source] != kNone) builder.use(result[source], false);
    }
    uint64_t bytes = 0;
    switch (node.type) {
      case trace::NodeType::comp:
        bytes = node.tensor_size;
        break;
      case trace::NodeType::mem_load:
        bytes = node.tensor_size;
        if (node.location == trace::Location::local && bytes != 0) {
          builder.use(builder.find(node.name, bytes, i, true), false);
          return;
        }
        break;
      case trace::NodeType::comm_recv:
        bytes = node.comm_size;
        break;
      case trace::NodeType::comm_coll:
        bytes = node.has_comm_type ? result_bytes(node) : 0;
        break;
      default:
        break;
    }
    if (bytes == 0) return;
    result[i] = builder.add(bytes, i, false);
    builder.use(result[i], true);
  });
}

uint64_t TensorPlan::initial_bytes() const {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors_)
    if (tensor.initial) bytes += tensor.bytes;
  return bytes;
}

std::string TensorPlan::name(const trace::TraceIndex& index, uint32_t tensor) const {
  const trace::NodeIndex node = tensors_[tensor].named;
  trace::NodeCache cache = index.open_cache(kWindow);
  if (!estimated_) {
    std::vector<trace::TensorUse> uses;
    index.tensors(cache, node, uses);
    // The node's uses are in the order in which its tensors were found, each once.
    std::vector<std::string> names;
    for (const bool output : {false, true})
      for (const trace::TensorUse& use : uses)
        if (use.output == output && std::find(names.begin(), names.end(), use.name) == names.end())
          names.push_back(use.name);
    size_t at = 0, found = names.size();
    for_each_use(node, [&](const Use& use) {
      if (use.tensor == tensor) found = at;
      ++at;
    });
    if (found < names.size()) return names[found];
  }
  return "result of " + index.node_name(cache, node);
}

}  // namespace weft
