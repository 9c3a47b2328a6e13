// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/text/training_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "configs/units.h"

namespace weft::text {
namespace {

using trace::IssueOrder;

constexpr uint64_t kMostNodes = uint64_t{1} << 26;

/// Which ranks take part in which communication.
class Spans {
 public:
  Spans(const TextFile& file, const std::vector<uint32_t>& sizes, const LoopOptions& options)
      : file_(file), sizes_(sizes) {
    for (const uint32_t size : sizes_) npus_ *= size;
    all_ = whole((sizes_.size() >= 32 ? 0u : 1u << sizes_.size()) - 1);
    const uint32_t first = sizes_.empty() ? 0 : 1;
    const Span one = whole(first);
    const Span others = whole(all_.dimensions & ~first);
    const Pair data{none_, all_};
    const Pair model{all_, none_};
    by_parallelism_ = {data, model, Pair{one, others}, Pair{others, one}};
    if (!options.model_dimensions.empty()) {
      given(options.model_dimensions);
      return;
    }
    switch (file.loop) {
      case Loop::model:
      case Loop::distributed_inference:
        header_ = model;
        break;
      case Loop::hybrid_data_model:
        header_ = Pair{one, others};
        break;
      case Loop::hybrid_model_data:
        header_ = Pair{others, one};
        break;
      case Loop::hybrid_transformer:
      case Loop::hybrid_transformer_fwd_in_bckwd:
        transformer();
        break;
      default:
        header_ = data;
        break;
    }
  }

  const Span& of(uint32_t layer, Pass pass) const {
    const bool weights = pass == Pass::weight_gradient;
    if (!overridden_) {
      const bool dlrm = file_.loop == Loop::hybrid_dlrm || file_.loop == Loop::hybrid_dlrm_enhanced;
      if (dlrm && !weights) return layer == 0 ? all_ : none_;
      if (const auto& own = file_.layers[layer].parallelism) {
        const Pair& pair = by_parallelism_[static_cast<size_t>(*own)];
        return weights ? pair.weights : pair.activations;
      }
    }
    return weights ? header_.weights : header_.activations;
  }

 private:
  struct Pair {
    Span activations;  ///< of forward and input-gradient communication
    Span weights;
  };

  Span whole(uint32_t dimensions) const {
    Span span;
    span.dimensions = dimensions;
    for (size_t d = 0; d < sizes_.size(); ++d)
      if ((dimensions >> d & 1) != 0) span.members *= sizes_[d];
    return span;
  }

  void given(const std::vector<uint32_t>& dimensions) {
    uint32_t mask = 0;
    for (const uint32_t d : dimensions) {
      if (d >= sizes_.size())
        throw UserError(
            ExitCode::usage,
            fmt::format("{}: key `workload.model_parallel_dimensions` names dimension {}, but the "
                        "machine's are 0 to {}; name some of these",
                        file_.path, d, sizes_.size() - 1));
      mask |= 1u << d;
    }
    header_ = Pair{whole(mask), whole(all_.dimensions & ~mask)};
    overridden_ = true;
  }

  void transformer() {
    if (!file_.model_group) {  // the first public code: local and horizontal, and vertical
      const uint32_t model = 5u & all_.dimensions;
      header_ = Pair{whole(model), whole(all_.dimensions & ~model)};
      return;
    }
    const uint64_t group = *file_.model_group;
    uint64_t product = 1;
    uint32_t mask = 0;
    size_t d = 0;
    for (; d < sizes_.size() && product * sizes_[d] <= group; ++d) {
      product *= sizes_[d];
      mask |= 1u << d;
    }
    if (product == group) {
      header_ = Pair{whole(mask), whole(all_.dimensions & ~mask)};
      return;
    }
    if (group > npus_)
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: model_parallel_NPU_group is {}, but the machine has {} NPUs. Use a larger "
                      "machine or a smaller group.",
                      file_.path, group, npus_));
    if (group % product != 0 || sizes_[d] % (group / product) != 0)
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: model_parallel_NPU_group is {}, which takes a fraction of dimension {} ({} "
                      "NPUs): {} NPUs of the dimensions before it go {} times. Use a group that "
                      "divides the machine's dimensions in their order.",
                      file_.path, group, d, sizes_[d], product,
                      fmt::format("{:.3g}", static_cast<double>(group) / static_cast<double>(product))));
    Span inner;
    inner.block = group;
    inner.members = group;
    Span outer;
    outer.block = group;
    outer.across = true;
    outer.members = npus_ / group;
    header_ = Pair{inner, outer};
  }

  const TextFile& file_;
  const std::vector<uint32_t>& sizes_;
  uint64_t npus_ = 1;
  Span none_, all_;
  std::vector<Pair> by_parallelism_;
  Pair header_;
  bool overridden_ = false;
};

class Maker {
 public:
  Maker(const TextFile& file, const std::vector<uint32_t>& sizes, const LoopOptions& options)
      : file_(file), options_(options), spans_(file, sizes, options) {
    issued_.resize(file.layers.size());
  }

  TrainingLoop make() {
    for (uint32_t pass = 0; pass < options_.passes; ++pass) {
      iteration_ = pass;
      run();
    }
    return std::move(loop_);
  }

 private:
  static constexpr uint32_t kNothing = ~0u;
  /// The nodes that end the collectives of a layer which nobody has waited for yet.
  struct Issued {
    uint32_t done[kPasses] = {kNothing, kNothing, kNothing};
    uint64_t step[kPasses] = {};  ///< of the program when it was issued
  };

  void run() {
    const auto layers = static_cast<uint32_t>(file_.layers.size());
    if (file_.loop == Loop::micro) {
      position_.clear();
      issue(0, Pass::weight_gradient, IssueOrder::system);
      return;
    }
    for (uint32_t i = 0; i < layers; ++i) forward(i);
    if (file_.loop == Loop::distributed_inference) return;
    size_t initiator = file_.initiators.size();
    for (uint32_t i = layers; i-- > 0;) {
      while (initiator > 0 && file_.initiators[initiator - 1] > i) --initiator;
      if (initiator > 0 && file_.initiators[initiator - 1] == i) again(i);
      backward(i);
    }
  }

  void forward(uint32_t i) {
    wait(i, Pass::weight_gradient);
    compute(i, Pass::forward);
    switch (file_.loop) {
      case Loop::data:
        return;
      case Loop::hybrid_dlrm:
      case Loop::hybrid_dlrm_enhanced:
        if (file_.layers[i].step(Pass::forward).op == CollectiveOp::all_to_all)
          issue(i, Pass::forward, IssueOrder::highest);
        else if (i == file_.last_bottom_layer)
          wait(0, Pass::forward);
        return;
      default:
        issue(i, Pass::forward, IssueOrder::system);
        wait(i, Pass::forward);
    }
  }

  /// Forward once more, from the checkpoint before the initiator.
  void again(uint32_t initiator) {
    const uint32_t checkpoint =
        *(std::upper_bound(file_.checkpoints.begin(), file_.checkpoints.end(), initiator) - 1);
    for (uint32_t k = checkpoint; k < initiator; ++k) forward(k);
  }

  void backward(uint32_t i) {
    switch (file_.loop) {
      case Loop::data:
        compute(i, Pass::weight_gradient);
        issue(i, Pass::weight_gradient, IssueOrder::system);
        if (i > 0) compute(i, Pass::input_gradient);
        return;
      case Loop::hybrid_dlrm:
      case Loop::hybrid_dlrm_enhanced:
        compute(i, Pass::weight_gradient);
        issue(i, Pass::weight_gradient, IssueOrder::system);
        if (file_.loop == Loop::hybrid_dlrm) wait(i, Pass::input_gradient);
        if (i > 0) compute(i, Pass::input_gradient);
        if (i == file_.last_bottom_layer + uint64_t{1}) issue(0, Pass::input_gradient, IssueOrder::highest);
        return;
      default:
        break;
    }
    const bool transformer =
        file_.loop == Loop::hybrid_transformer || file_.loop == Loop::hybrid_transformer_fwd_in_bckwd;
    compute(i, Pass::input_gradient);
    if (i > 0 || transformer) issue(i, Pass::input_gradient, IssueOrder::lifo);
    compute(i, Pass::weight_gradient);
    if (file_.loop != Loop::model) issue(i, Pass::weight_gradient, IssueOrder::fifo);
    wait(i, Pass::input_gradient);
  }

  [[noreturn]] void too_long(uint32_t i, const char* what) const {
    throw UserError(
        ExitCode::trace,
        fmt::format("{}: layer {} `{}`: its {} is longer than the 213 days that simulated time can hold; "
                    "check it, and the scales and `workload.clock`",
                    file_.path, i, file_.layers[i].name, what));
  }

  Picoseconds time_of(uint64_t cycles, uint32_t i, const char* what) const {
    const double picoseconds = static_cast<double>(cycles) * (1e12 / options_.clock_hz);
    if (picoseconds >= 1.8e19) too_long(i, what);
    if (options_.clock_hz == 1e9) return cycles * 1000;  // also beyond what a double holds exactly
    return static_cast<Picoseconds>(std::llround(std::min(picoseconds, 9.2e18)));
  }

  static uint64_t scaled(uint64_t value, double scale) {
    if (scale == 1) return value;
    if (!(scale >= 0))
      throw UserError(ExitCode::usage,
                      "a scale of compute or communication is no number from 0; check --comm-scale and "
                      "--compute-scale, or `workload.comm_scale` and `workload.compute_scale`");
    const double product = static_cast<double>(value) * scale;
    return product >= 18446744073709549568.0 ? ~uint64_t{0} : static_cast<uint64_t>(product);
  }

  uint32_t add(LoopNode node) {
    if (loop_.nodes.size() >= kMostNodes)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: {} passes of {} layers are more than {} nodes; run fewer passes",
                                  file_.path, options_.passes, file_.layers.size(), kMostNodes));
    node.iteration = iteration_;
    loop_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(loop_.nodes.size() - 1);
  }

  void compute(uint32_t i, Pass pass) {
    LoopNode node;
    node.pass = pass;
    node.layer = i;
    const uint64_t cycles = scaled(file_.layers[i].step(pass).cycles, options_.compute_scale);
    if (cycles > ~uint64_t{0} - options_.state_cycles) too_long(i, "compute");
    node.time = time_of(cycles + options_.state_cycles, i, "compute");
    if (node.time == 0) return;
    node.after = position_;
    position_.assign(1, add(std::move(node)));
    ++step_;
  }

  void issue(uint32_t i, Pass pass, IssueOrder order) {
    const TextLayer& layer = file_.layers[i];
    const TextLayer::Step& step = layer.step(pass);
    const Span& span = spans_.of(i, pass);
    if (!step.op || span.members <= 1) return;
    LoopNode node;
    node.kind = LoopNode::Kind::collective;
    node.pass = pass;
    node.layer = i;
    node.op = *step.op;
    node.bytes = scaled(step.bytes, options_.comm_scale);
    node.span = span;
    node.order = options_.file_priorities || order == IssueOrder::highest ? order : IssueOrder::system;
    node.after = position_;
    if (span.block != 0) loop_.split = true;
    const uint64_t bytes = node.bytes;
    uint32_t done = add(std::move(node));
    const Picoseconds update = update_of(i, bytes);
    if (update != 0) {
      LoopNode delay;
      delay.kind = LoopNode::Kind::delay;
      delay.pass = pass;
      delay.layer = i;
      delay.time = update;
      delay.after.assign(1, done);
      done = add(std::move(delay));
    }
    issued_[i].done[static_cast<size_t>(pass)] = done;
    issued_[i].step[static_cast<size_t>(pass)] = step_;
  }

  Picoseconds update_of(uint32_t i, uint64_t bytes) const {
    const uint64_t cycles = file_.layers[i].update_cycles;
    if (!options_.update_per_kib) return time_of(cycles, i, "update");
    const Wide product = static_cast<Wide>(cycles) * bytes / 1024;
    if (product > ~uint64_t{0}) too_long(i, "update");
    return time_of(static_cast<uint64_t>(product), i, "update");
  }

  void wait(uint32_t i, Pass pass) {
    const uint32_t done = std::exchange(issued_[i].done[static_cast<size_t>(pass)], kNothing);
    if (done == kNothing) return;
    loop_.waits.push_back({done, position_});
    // One that was issued here is after all that the program has waited for.
    if (issued_[i].step[static_cast<size_t>(pass)] == step_) position_.clear();
    position_.push_back(done);
    ++step_;
  }

  const TextFile& file_;
  const LoopOptions& options_;
  Spans spans_;
  TrainingLoop loop_;
  std::vector<Issued> issued_;
  std::vector<uint32_t> position_;  ///< what the program has just waited for
  uint64_t step_ = 0;               ///< counts changes of the position
  uint32_t iteration_ = 0;
};

}  // namespace

TrainingLoop make_loop(const TextFile& file, const std::vector<uint32_t>& sizes, const LoopOptions& options) {
  return Maker(file, sizes, options).make();
}

double parse_clock(const std::string& text, const std::string& where) {
  try {
    return weft::parse_clock(text);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", where, e.what()));
  }
}

}  // namespace weft::text
