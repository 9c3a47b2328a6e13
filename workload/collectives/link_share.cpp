// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/link_share.h"
#include "workload/collectives/sample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace weft::collectives {
namespace {

/// Rounds that are looked at; those of longer algorithms are alike.
constexpr uint32_t kRounds = 512;

/// Links that a member's chunks use in one phase.
class PhaseLinks {
 public:
  PhaseLinks(const Config& config, const CollectivePlan& plan, const PhasePlan& phase)
      : config_(config),
        axis_(plan.axes()[phase.axis]),
        shape_(config.dimensions[axis_.dimension]),
        phase_(phase) {}

  /// At most so many at once: those that one chunk's rounds use, times the chunks at once, but no more than
  /// there are.
  uint32_t at_once(uint32_t chunks) const {
    const uint32_t queues = queues_of_phase(config_, axis_, phase_.op).count;
    std::set<uint32_t> all;
    uint32_t most = 0;  // in one round
    for (uint32_t chunk = 0; chunk < std::min(chunks, std::max(2u, queues)); ++chunk) {
      most = std::max(most, links(goes_down(config_, axis_, phase_.op, chunk), chunk, all));
    }
    const uint32_t running = std::min(chunks, queues * config_.collectives.active_chunks_per_dimension);
    return std::min<uint64_t>(all.size(), uint64_t{most} * running);
  }

 private:
  uint32_t links(bool reverse, uint32_t chunk, std::set<uint32_t>& all) const {
    // In the middle, where both directions of a line go on; the root of an operation that has one.
    const uint32_t me = rooted(phase_.op) ? phase_.root : axis_.size / 2;
    const PhaseShape shape{sent_by_root(phase_.op), axis_.size, me, phase_.root, reverse, chunk};
    uint32_t most = 0;
    Round round;
    for_each_sample(phase_.algorithm->rounds(shape), kRounds, [&](uint32_t r) {
      phase_.algorithm->round(shape, r, round);
      std::set<uint32_t> now;
      for (const RoundSend& send : round.sends)
        now.insert(shape_.link_to(axis_.value(me), axis_.value(send.to), reverse));
      most = std::max(most, static_cast<uint32_t>(now.size()));
      all.insert(now.begin(), now.end());
    });
    return most;
  }

  const Config& config_;
  const Axis& axis_;
  const Shape shape_;
  const PhasePlan& phase_;
};

}  // namespace

LinkShare link_share(const Config& config, const CollectivePlan& plan) {
  LinkShare share;
  if (plan.empty() || config.remapped() || !plan.along_dimensions()) return share;
  for (uint32_t a = 0; a < plan.axes().size(); ++a) {
    const Axis& axis = plan.axes()[a];
    const DimensionConfig& d = config.dimensions[axis.dimension];
    LinkShare::Dimension one{axis.dimension, Shape(d).most_links(), 0, d.link_rate().value()};
    for (const PhasePlan& phase : plan.phases()) {
      if (phase.axis != a) continue;
      one.used =
          std::max(one.used,
                   phase.algorithm->in_switch() ? 1 : PhaseLinks(config, plan, phase).at_once(plan.chunks()));
    }
    one.used = std::min(one.used, one.links);
    share.available += one.rate * one.links;
    share.dimensions.push_back(one);
  }
  // A chunk is in one dimension at a time.
  std::vector<double> rates;
  for (const LinkShare::Dimension& d : share.dimensions) rates.push_back(d.rate * d.used);
  std::sort(rates.rbegin(), rates.rend());
  for (size_t i = 0; i < rates.size() && i < plan.chunks(); ++i) share.used += rates[i];
  return share;
}

namespace {

/// The algorithms of the plan by name, with `direct` where NPUs have a link to every peer; empty: nothing
/// changes.
std::vector<std::string> direct_where_connected(const Config& config, const PlanSettings& own,
                                                CollectiveOp op) {
  std::vector<std::string> names =
      !own.algorithms.empty() ? own.algorithms : config.collectives.algorithms[static_cast<size_t>(op)];
  names.resize(config.dimensions.size());
  bool changed = false;
  for (size_t d = 0; d < names.size(); ++d) {
    if (!Shape(config.dimensions[d]).joins_pairs() || names[d].empty() || names[d] == "direct") continue;
    names[d] = "direct";
    changed = true;
  }
  if (!changed) names.clear();
  return names;
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(name.empty() ? "default" : name);
  return shown.size() == 1 ? shown[0] : fmt::format("[{}]", fmt::join(shown, ", "));
}

}  // namespace

ShareRemedy share_remedy(const PlanBuilder& plans, const CollectivePlan& plan) {
  const Config& config = plans.config();
  const PlanSettings& own = plans.settings(plan.request().settings);
  const double now = link_share(config, plan).share();
  const std::vector<std::string> direct = direct_where_connected(config, own, plan.request().op);
  ShareRemedy best{{}, now};
  size_t fewest = ~size_t{0};
  for (uint32_t changes = 1; changes < 16; ++changes) {
    Config other = config;
    std::vector<std::string> keys;
    PlanSettings settings = own;
    settings.chunks = plan.chunks();  // as it is, even if `auto` would now choose otherwise
    if (changes & 1) {
      other.collectives.queues_per_dimension = std::max(2u, config.collectives.queues_per_dimension);
      keys.emplace_back("`collectives.queues_per_dimension: 2`");
    }
    if (changes & 2) {
      settings.chunks = std::max(4u, plan.chunks());
      keys.emplace_back("`collectives.chunks: 4`");
    }
    if (changes & 4) {
      if (direct.empty()) continue;
      settings.algorithms = direct;
      keys.push_back(fmt::format("`collectives.{}: {}`", to_string(plan.request().op), names_text(direct)));
    }
    if (changes & 8) {
      other.collectives.active_chunks_per_dimension =
          std::max(2u, config.collectives.active_chunks_per_dimension);
      keys.emplace_back("`collectives.active_chunks_per_dimension: 2`");
    }
    PlanBuilder others(other);
    CollectiveRequest request = plan.request();
    request.settings = others.settings(settings);
    const double share = link_share(other, *others.plan(request)).share();
    // A change that adds nothing to another one is left out of both.
    if (share < now + 0.005 || share < best.share + (keys.size() > 1 && fewest != ~size_t{0} ? 0.005 : 1e-9))
      continue;
    best = {fmt::format("{}", fmt::join(keys, " and ")), share};
    fewest = keys.size();
  }
  return best;
}

}  // namespace weft::collectives
