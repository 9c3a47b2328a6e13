// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sc_main/decimal.h"
#include "workload/collectives/link_share.h"
#include "workload/collectives/rules.h"
#include "workload/library/communication_library.h"

namespace weft::cli {
namespace {

/// The size whose share is printed: so large that `auto` chooses its largest number of chunks.
constexpr uint64_t kLarge = uint64_t{1} << 34;

constexpr uint32_t kMostDescribed = 65536;

const collectives::Group kWorld;

std::string rate_text(double bytes_per_second) {
  return bytes_per_second >= 1e12 ? fmt::format("{:.4g} TB/s", bytes_per_second / 1e12)
                                  : fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

/// The least size, a power of two, from which on an operation has so many chunks.
std::string auto_text(collectives::PlanBuilder& plans, collectives::CollectiveRequest request) {
  std::vector<std::string> steps;
  uint32_t last = 0;
  for (request.bytes = 8; request.bytes <= kLarge; request.bytes *= 2) {
    const uint32_t chunks = plans.plan(request)->chunks();
    if (chunks == last) continue;
    steps.push_back(last == 0 ? fmt::format("{}", chunks)
                              : fmt::format("{} from {}", chunks, readable_size(request.bytes)));
    last = chunks;
  }
  return fmt::format("{}", fmt::join(steps, ", "));
}

}  // namespace

std::string share_text(const collectives::PlanBuilder& plans, const collectives::CollectivePlan& plan) {
  const collectives::LinkShare share = collectives::link_share(plans.config(), plan);
  if (share.available <= 0) return {};
  std::string text = fmt::format("{} of an NPU's {} ({})", rate_text(share.used), rate_text(share.available),
                                 percent(share.share()));
  if (share.share() > 0.9999) return text;
  std::vector<std::string> parts;
  for (const auto& d : share.dimensions)
    if (d.used < d.links)
      parts.push_back(fmt::format("{} of {} links in dimension {}", d.used, d.links, d.dimension));
  if (plan.chunks() < share.dimensions.size())
    parts.push_back(fmt::format("{} chunk{} in {} dimensions", plan.chunks(), plan.chunks() == 1 ? "" : "s",
                                share.dimensions.size()));
  text += fmt::format(": {}", fmt::join(parts, ", "));
  const collectives::ShareRemedy remedy = collectives::share_remedy(plans, plan);
  if (!remedy.keys.empty()) {
    const bool several = remedy.keys.find(" and ") != std::string::npos;
    text += fmt::format("; {} {} it to {}", remedy.keys, several ? "lift" : "lifts", percent(remedy.share));
  }
  return text;
}

std::string share_text(const Config& config, CollectiveOp op, uint64_t bytes, uint32_t root) {
  collectives::PlanBuilder plans(config);
  collectives::CollectiveRequest request;
  request.op = op;
  request.bytes = bytes;
  request.group = &kWorld;
  request.root = root;
  collectives::Rules(config, plans).apply(request, {}, 0);
  return share_text(plans, *plans.plan(request));
}

std::string chunks_text(const std::vector<std::pair<uint64_t, uint32_t>>& chunks) {
  std::vector<std::string> runs;
  for (size_t i = 0; i < chunks.size();) {
    size_t j = i;
    while (j + 1 < chunks.size() && chunks[j + 1].second == chunks[i].second) ++j;
    runs.push_back(fmt::format("{} ({}{})", chunks[i].second, readable_size(chunks[i].first),
                               i == j ? "" : " to " + readable_size(chunks[j].first)));
    i = j + 1;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

std::string library_text(const Config& config) {
  const library::CommunicationLibrary of(library::LibraryMachine::of(config));
  const library::LibraryMachine& machine = of.machine();
  const LibraryParameters parameters = of.parameters(config.collectives.library);
  const auto graph = [&](const char* name, const library::SearchGraph& found) {
    std::string text = fmt::format("; {} {} x {:.4g} GB/s", name, found.channels, found.speed);
    if (machine.nodes > 1 && found.inter_speed != found.speed)
      text += fmt::format(" ({:.4g} between nodes)", found.inter_speed);
    return text;
  };
  std::string line = fmt::format("{} {}, {} node(s) of {} {}", to_string(machine.kind), of.version(),
                                 machine.nodes, machine.gpus_per_node, machine.gpu);
  line += graph("rings", of.ring_graph()) + graph("trees", of.tree_graph());
  if (of.nvls_graph().channels != 0) line += graph("nvls", of.nvls_graph());
  if (machine.collnet) line += "; the network's switches reduce";
  return line + fmt::format("; launch {:.4g} us, latencies x {:.4g}, bandwidths x {:.4g}",
                            parameters.launch_us, parameters.latency_scale, parameters.bandwidth_scale);
}

std::string describe_plans(const Config& config) {
  if (config.collectives.library.on()) return "library: " + library_text(config) + "\n";
  if (config.npus() > kMostDescribed) return {};
  collectives::PlanBuilder plans(config);
  std::map<std::string, std::vector<std::string>> alike;  // operations by text
  std::vector<std::string> order;
  for (int i = 0; i < kCollectiveOps; ++i) {
    collectives::CollectiveRequest request;
    request.op = static_cast<CollectiveOp>(i);
    if (request.op == CollectiveOp::barrier) continue;
    request.bytes = kLarge;
    request.group = &kWorld;
    std::string text;
    try {
      const auto plan = plans.plan(request);
      if (plan->empty()) continue;
      text = share_text(plans, *plan);
      if (config.collectives.chunks == kAutoChunks)
        text += fmt::format("{}chunks {}", text.empty() ? "" : "; ", auto_text(plans, request));
    } catch (const UserError& e) {
      text = fmt::format("cannot run: {}", e.what());
    }
    if (text.empty()) continue;
    if (alike[text].empty()) order.push_back(text);
    alike[text].emplace_back(to_string(request.op));
  }
  std::string lines;
  for (const std::string& text : order)
    lines += fmt::format("plan: {}: {}\n", fmt::join(alike[text], ", "), text);
  return lines;
}

}  // namespace weft::cli
