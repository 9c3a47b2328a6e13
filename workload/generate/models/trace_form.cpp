// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/models/trace_form.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>

#include "configs/file_set.h"
#include "workload/generate/models/model_sizes.h"
#include "workload/generate/parameter_checks.h"
#include "workload/generate/rank_trace_writer.h"
#include "workload/generate/trace_file.h"

namespace weft::generate {
namespace {

namespace pb = ChakraProtoMsg;

/// An all-reduce, and the layer whose weight gradient is the last that it waits for.
struct Bucket {
  uint64_t bytes = 0;
  size_t layer = 0;
};

std::vector<Bucket> buckets_of(const Model& model, const TraceForm& form) {
  std::vector<Bucket> buckets;
  if (form.bucket == TraceForm::kLayer) {
    for (size_t i = model.layers.size(); i-- > 0;) {
      const LayerCommunication& c = model.layers[i].after(text::Pass::weight_gradient);
      if (c.op) buckets.push_back({c.bytes, i});
    }
    return buckets;
  }
  std::vector<uint64_t> tensors;
  std::vector<size_t> layer_of;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    if (!model.layers[i].after(text::Pass::weight_gradient).op) continue;
    for (const uint64_t tensor : model.layers[i].parameters) {
      tensors.push_back(tensor);
      layer_of.push_back(i);
    }
  }
  size_t next = tensors.size();
  for (const uint64_t bytes : gradient_buckets(tensors, model.element_bytes, form.bucket)) {
    uint64_t open = 0;
    while (open < bytes) open += tensors[--next] * model.element_bytes;
    buckets.push_back({bytes, layer_of[next]});
  }
  return buckets;
}

class Program : private RankTraceWriter {
 public:
  Program(const Model& model, const TraceForm& form, TraceFile& file)
      : RankTraceWriter(file), model_(model), form_(form), buckets_(buckets_of(model, form)) {}

  void write() {
    for (step_ = 0; step_ < form_.steps; ++step_) {
      iteration(step_);
      if (model_.loop == text::Loop::micro) {
        const LayerCommunication& c = model_.layers[0].after(text::Pass::weight_gradient);
        prefix(fmt::format("iter{}.layer0.weight_gradient.", step_));
        communicate(model_.layers[0].name + ".comm", *c.op, c.bytes, kNone);
        continue;
      }
      forward();
      backward();
      update();
    }
  }
  using RankTraceWriter::nodes;

 private:
  NodeId work(size_t i, text::Pass pass, NodeId dep = kNone) {
    const ModelLayer& layer = model_.layers[i];
    const LayerWork& w = layer.of(pass);
    if (w.empty()) return stream();
    prefix(fmt::format("iter{}.layer{}.{}.", step_, i, text::to_string(pass)));
    const compute::Gemm& g = w.gemm;
    const uint64_t ops = model_sum(model_product({2, g.m, g.k, g.n, w.count}), w.other_ops);
    const uint64_t elements =
        model_sum(model_product({g.m, g.k}), model_sum(model_product({g.k, g.n}), model_product({g.m, g.n})));
    begin(layer.name, pb::COMP_NODE);
    data(dep);
    waited();
    control(stream());
    int64("num_ops", ops);
    uint64("tensor_size", model_sum(model_product({elements, w.count, model_.element_bytes}), w.other_bytes));
    if (w.is_gemm()) {
      // Products of one size one after the other: as many rows as all of them have.
      uint64("m", model_product({g.m, w.count}));
      uint64("n", g.n);
      uint64("k", g.k);
    }
    return computed();
  }

  NodeId communicate(const std::string& name, CollectiveOp op, uint64_t bytes, NodeId dep) {
    begin(name, pb::COMM_COLL_NODE);
    data(dep);
    if (form_.in_order) control(last_collective_);
    int64("comm_type", op == CollectiveOp::all_reduce       ? pb::ALL_REDUCE
                       : op == CollectiveOp::all_to_all     ? pb::ALL_TO_ALL
                       : op == CollectiveOp::all_gather     ? pb::ALL_GATHER
                       : op == CollectiveOp::reduce_scatter ? pb::REDUCE_SCATTER
                                                            : pb::BROADCAST);
    int64("comm_size", bytes);
    const NodeId id = end();
    last_collective_ = id;
    if (!form_.overlap) wait_for(id);
    return id;
  }

  bool dlrm() const { return model_.loop == text::Loop::hybrid_dlrm; }

  NodeId exchange(size_t i, text::Pass pass, NodeId dep) {
    const LayerCommunication& c = model_.layers[i].after(pass);
    if (!c.op) return kNone;
    prefix(fmt::format("iter{}.layer{}.{}.", step_, i, text::to_string(pass)));
    return communicate(model_.layers[i].name + ".comm", *c.op, c.bytes, dep);
  }

  void forward() {
    NodeId rows = kNone;
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      const bool wants_rows = dlrm() && i == size_t{model_.last_bottom_layer} + 1;
      const NodeId done = work(i, text::Pass::forward, wants_rows ? rows : kNone);
      if (dlrm() && i == 0) rows = exchange(0, text::Pass::forward, done);
    }
  }

  void backward() {
    size_t next = 0;
    NodeId gradients = kNone;
    for (size_t i = model_.layers.size(); i-- > 0;) {
      const NodeId done = work(i, text::Pass::weight_gradient, dlrm() && i == 0 ? gradients : kNone);
      for (; next < buckets_.size() && buckets_[next].layer == i; ++next) {
        prefix(fmt::format("iter{}.layer{}.weight_gradient.", step_, i));
        reduced_.push_back(communicate(fmt::format("bucket{}.all_reduce", next), CollectiveOp::all_reduce,
                                       buckets_[next].bytes, done));
      }
      if (i == 0) break;
      work(i, text::Pass::input_gradient);
      if (dlrm() && i == size_t{model_.last_bottom_layer} + 1)
        gradients = exchange(0, text::Pass::input_gradient, stream());
    }
  }

  void update() {
    pending_.push_back(std::move(reduced_));
    reduced_.clear();
    prefix(fmt::format("iter{}.", step_));
    begin("optimizer", pb::COMP_NODE);
    // With `async` the gradients of the step before.
    if (!form_.async || pending_.size() > 1) {
      for (const NodeId id : pending_.front()) data(id);
      pending_.pop_front();
    }
    waited();
    control(stream());
    int64("num_ops", model_product({kOptimizerOps, model_.parameters()}));
    // Weights, their gradients and one moment: read, and all but the gradients written.
    uint64("tensor_size", model_product({5, model_.parameters(), model_.element_bytes}));
    computed();
  }

  const Model& model_;
  const TraceForm& form_;
  const std::vector<Bucket> buckets_;
  uint32_t step_ = 0;
  NodeId last_collective_ = kNone;
  std::vector<NodeId> reduced_;
  std::deque<std::vector<NodeId>> pending_;
};

}  // namespace

std::vector<uint64_t> step_buckets(const Model& model, const TraceForm& form) {
  std::vector<uint64_t> bytes;
  for (const Bucket& bucket : buckets_of(model, form)) bytes.push_back(bucket.bytes);
  return bytes;
}

WrittenModel write_traces(const Model& model, const TraceForm& form, const std::string& out,
                          const std::string& name) {
  if (model.loop != text::Loop::data && model.loop != text::Loop::hybrid_dlrm &&
      model.loop != text::Loop::micro)
    throw UserError(ExitCode::usage,
                    fmt::format("weft generate: {} is written with --text only; run that file with `weft run "
                                "CONFIG --text FILE`, or convert it with `weft trace convert --from text`",
                                text::to_string(model.loop)));
  const ParameterChecks checks(model.name.c_str());
  checks.range("ranks", form.ranks, 1, 1u << 20);
  checks.range("steps", form.steps, 1, 100'000);
  WrittenModel written;
  written.prefix = trace_prefix(model.name.c_str(), out, name, form.ranks);
  FileSet files;  // they appear together
  for (uint32_t r = 0; r < form.ranks; ++r) {
    TraceFile file(files.add(fmt::format("{}.{}.et", written.prefix, r)));
    Program program(model, form, file);
    program.write();
    written.nodes += program.nodes();
    written.bytes += file.bytes();
    file.close();
  }
  files.finish();
  return written;
}

}  // namespace weft::generate
