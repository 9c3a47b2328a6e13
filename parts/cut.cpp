// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/geometry.h"
#include "configs/graph.h"

namespace weft::parts {
namespace {

/// Parts hear of packets half a latency late (docs/parts.md), so it must be some windows' time.
constexpr Picoseconds kLeastOfPackets = 100;
constexpr const char* kTooShort =
    " is a packet network with links of less than 100 ps, one way or back, and its parts could not look "
    "ahead";

bool cuttable(bool packets, Picoseconds latency, Picoseconds back) {
  if (!packets) return latency != 0;
  return latency >= kLeastOfPackets && (back == 0 || back >= kLeastOfPackets);
}

/// Why a dimension (or the graph) cannot be cut; empty: it can.
std::string uncuttable(const Config& config, uint32_t d) {
  const DimensionConfig& dimension = config.fabric_dimensions()[d];
  const std::string name = fmt::format("dimension {} ({})", d, to_string(dimension.fidelity));
  const bool packets = carrier_of(dimension) == Carrier::packets;
  bool latency = cuttable(packets, dimension.latency, dimension.credit_latency);
  for (uint32_t l = 1; dimension.tree != nullptr && l < dimension.tree->levels(); ++l)
    latency = latency &&
              cuttable(packets, dimension.tree->level(l).latency, dimension.tree->level(l).credit_latency);
  if (!latency && packets) return name + kTooShort;
  if (!latency)
    return name + " has links without latency, and what they carry would act at once in another part";
  return {};
}

std::string uncuttable(const Graph& graph) {
  const bool packets = carrier_of(graph) == Carrier::packets;
  for (const GraphLink& link : graph.spec().links) {
    if (cuttable(packets, link.latency, link.credit_latency)) continue;
    if (packets) return std::string("the graph") + kTooShort;
    return "the graph has links without latency, and what they carry would act at once in another part";
  }
  return {};
}

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

class Chooser {
 public:
  Chooser(const Config& config, uint32_t parts, const RankLoads& loads)
      : config_(config), geometry_(Geometry::of_fabric(config)), parts_(parts), loads_(loads) {}

  Cut choose(const std::string& asked) {
    const uint32_t npus = config_.npus();
    for (uint32_t stride = 1; stride <= npus; ++stride) {
      if (npus % stride != 0) continue;
      for (uint32_t size = parts_; size <= npus / stride; ++size)
        if (npus / stride % size == 0) candidates_.push_back(make(stride, size));
    }
    if (!asked.empty()) keep_only(asked);
    std::sort(candidates_.begin(), candidates_.end(), [](const Cut& a, const Cut& b) {
      const auto rank = [](const Cut& c) {
        return std::make_tuple(c.crossing_sends, c.separated, static_cast<int>((c.imbalance - 1) * 8),
                               ~c.stride, ~c.size);
      };
      return rank(a) < rank(b);
    });
    for (const bool packets : {false, true}) {
      for (Cut& cut : candidates_) {
        fill(cut);
        cut.through_packets = packets;
        if (allowed(cut)) return std::move(cut);
      }
    }
    const std::string file = config_.file.empty() ? "configuration" : config_.file;
    if (!asked.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("{}: --parts-cut {}: {}; give another cut, or leave the choice to --parts",
                                  file, asked, why_not_));
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: there is no cut into {} parts: {}; use fewer parts, or run in one process", file,
                    parts_, why_not_));
  }

 private:
  uint32_t part_of(const Cut& cut, uint32_t rank) const {
    const uint64_t coordinate = rank / cut.stride % cut.size;
    return static_cast<uint32_t>(coordinate * parts_ / cut.size);
  }

  Cut make(uint32_t stride, uint32_t size) const {
    Cut cut;
    cut.parts = parts_;
    cut.stride = stride;
    cut.size = size;
    for (const auto& [from, to] : loads_.sends)
      cut.crossing_sends += part_of(cut, from) != part_of(cut, to) ? 1 : 0;
    for (uint32_t r = 0; r < loads_.alike.size(); ++r)
      cut.separated += part_of(cut, r) != part_of(cut, loads_.alike[r]) ? 1 : 0;
    std::vector<uint64_t> work(parts_);
    uint64_t all = 0;
    for (uint32_t r = 0; r < config_.npus(); ++r) {
      const uint64_t own = r < loads_.work.size() ? loads_.work[r] : 1;
      work[part_of(cut, r)] += own;
      all += own;
    }
    if (all != 0)
      cut.imbalance = static_cast<double>(*std::max_element(work.begin(), work.end())) * parts_ /
                      static_cast<double>(all);
    return cut;
  }

  void keep_only(const std::string& asked) {
    const auto other = [&](const Cut& cut) { return without_spaces(cut.text()) != without_spaces(asked); };
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), other), candidates_.end());
    if (!candidates_.empty()) return;
    throw UserError(
        ExitCode::usage,
        fmt::format(
            "--parts-cut {}: it is no cut of {} NPUs into {} parts: give \"rank / STRIDE % SIZE\", with a "
            "product of both that divides {}, and a size of {} or more",
            asked, config_.npus(), parts_, config_.npus(), parts_));
  }

  void fill(Cut& cut) const {
    cut.part_of.resize(config_.npus());
    for (uint32_t r = 0; r < config_.npus(); ++r) cut.part_of[r] = part_of(cut, r);
  }

  /// Its links can be cut, and those of packet networks are to be.
  bool allowed(const Cut& cut) {
    if (config_.graph != nullptr) {
      if (carrier_of(*config_.graph) == Carrier::packets && !cut.through_packets) return false;
      why_not_ = uncuttable(*config_.graph);
      return why_not_.empty();
    }
    for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
      if (config_.fabric_dimensions()[d].size <= 1 || !crosses(cut, d)) continue;
      if (carrier_of(config_.fabric_dimensions()[d]) == Carrier::packets && !cut.through_packets)
        return false;
      std::string why = uncuttable(config_, d);
      if (why.empty()) continue;
      why_not_ = std::move(why);
      return false;
    }
    return true;
  }

  bool crosses(const Cut& cut, uint32_t d) const {
    for (uint32_t place = 0; place < config_.npus(); ++place) {
      const uint32_t first = geometry_.with_coordinate(place, d, 0);
      if (cut.part_of[geometry_.rank_at(place)] != cut.part_of[geometry_.rank_at(first)]) return true;
    }
    return false;
  }

  const Config& config_;
  const Geometry geometry_;
  const uint32_t parts_;
  const RankLoads& loads_;
  std::vector<Cut> candidates_;
  std::string why_not_;
};

}  // namespace

std::string Cut::text() const {
  return fmt::format("rank / {} % {}", stride, size);
}

Cut choose_cut(const Config& config, uint32_t parts, const RankLoads& loads, const std::string& asked) {
  if (parts == 0 || parts > config.npus())
    throw UserError(ExitCode::usage,
                    fmt::format("--parts {}: the machine has {} NPUs, and each part needs one; "
                                "give 1 to {}, or auto",
                                parts, config.npus(), config.npus()));
  return Chooser(config, parts, loads).choose(asked);
}

}  // namespace weft::parts
