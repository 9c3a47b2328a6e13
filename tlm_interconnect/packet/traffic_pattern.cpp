// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/traffic_pattern.h"

#include <fmt/format.h>

#include <sstream>

#include "configs/input_file.h"

namespace weft::packet {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

uint32_t bits_of(uint32_t ranks, const std::string& pattern) {
  uint32_t bits = 0;
  while ((1u << bits) < ranks) ++bits;
  if ((1u << bits) != ranks) {
    fail(fmt::format(
        "pattern {} needs a power of two of ranks, the topology has {}: use uniform or a permutation file",
        pattern, ranks));
  }
  return bits;
}

}  // namespace

std::vector<std::string> TrafficPattern::names() {
  return {"uniform", "transpose", "bit_complement", "neighbor", "hotspot", "all_to_one", "permutation"};
}

TrafficPattern::TrafficPattern(const PatternConfig& config, const PacketTopology& topology)
    : ranks_(static_cast<uint32_t>(topology.nis.size())),
      self_(config.self_destinations),
      hot_(config.hotspot_rank) {
  if (config.name == "uniform" || config.name == "hotspot") {
    kind_ = config.name == "uniform" ? Kind::uniform : Kind::hotspot;
    if (ranks_ == 1) self_ = true;
    if (kind_ == Kind::hotspot) {
      if (hot_ >= ranks_) fail(fmt::format("hotspot rank {}: there are {} ranks", hot_, ranks_));
      if (!(config.hotspot_weight > 0))
        fail(fmt::format("hotspot weight {}: it must be above 0", config.hotspot_weight));
      hot_share_ = config.hotspot_weight / (config.hotspot_weight + (ranks_ - 1));
    }
    return;
  }
  kind_ = Kind::fixed;
  fixed_.resize(ranks_);
  if (config.name == "all_to_one") {
    if (hot_ >= ranks_) fail(fmt::format("all_to_one rank {}: there are {} ranks", hot_, ranks_));
    for (uint32_t& d : fixed_) d = hot_;
  } else if (config.name == "bit_complement") {
    bits_of(ranks_, config.name);
    for (uint32_t r = 0; r < ranks_; ++r) fixed_[r] = ~r & (ranks_ - 1);
  } else if (config.name == "transpose") {
    const uint32_t bits = bits_of(ranks_, config.name);
    if (bits % 2 != 0) {
      fail(fmt::format("pattern transpose swaps halves of a rank's bits: {} ranks have {} bits, which is odd",
                       ranks_, bits));
    }
    const uint32_t half = bits / 2;
    const uint32_t low = (1u << half) - 1;
    for (uint32_t r = 0; r < ranks_; ++r) fixed_[r] = ((r & low) << half) | (r >> half);
  } else if (config.name == "neighbor") {
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (topology.dimensions.empty()) {
        fixed_[r] = (r + 1) % ranks_;
        continue;
      }
      uint32_t d = 0;  // one step up in every dimension
      for (uint32_t i = 0; i < topology.dimensions.size(); ++i) {
        d += (topology.coordinate(r, i) + 1) % topology.dimensions[i].shape.size() * topology.strides[i];
      }
      fixed_[r] = d;
    }
  } else if (config.name == "permutation") {
    if (config.permutation.size() != ranks_) {
      fail(fmt::format(
          "the permutation has {} destinations, the topology {} ranks: give one line for each rank",
          config.permutation.size(), ranks_));
    }
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (config.permutation[r] >= ranks_) {
        fail(fmt::format("the permutation sends rank {} to {}: there are {} ranks", r, config.permutation[r],
                         ranks_));
      }
    }
    fixed_ = config.permutation;
    self_ = true;
  } else {
    std::string known;
    for (const std::string& n : names()) known += known.empty() ? n : ", " + n;
    fail(fmt::format("unknown traffic pattern '{}': use one of {}", config.name, known));
  }
}

bool TrafficPattern::silent(uint32_t source) const {
  return kind_ == Kind::fixed && !self_ && fixed_[source] == source;
}

uint32_t TrafficPattern::draw(uint32_t source, Random& random) const {
  switch (kind_) {
    case Kind::fixed:
      return fixed_[source];
    case Kind::uniform: {
      if (self_) return random.below(ranks_);
      const uint32_t d = random.below(ranks_ - 1);
      return d < source ? d : d + 1;
    }
    case Kind::hotspot:
      for (;;) {
        uint32_t d = hot_;
        if (ranks_ > 1 && random.unit() > hot_share_) {
          d = random.below(ranks_ - 1);
          if (d >= hot_) ++d;
        }
        if (self_ || d != source) return d;
      }
  }
  return 0;
}

std::vector<uint32_t> TrafficPattern::read_permutation(const std::string& file) {
  std::istringstream in(read_input(file, kPatternInput));
  std::vector<uint32_t> result;
  std::string line;
  for (uint32_t number = 1; std::getline(in, line); ++number) {
    const size_t from = line.find_first_not_of(" \t\r");
    if (from == std::string::npos || line[from] == '#') continue;
    const size_t to = line.find_last_not_of(" \t\r");
    const std::string word = line.substr(from, to - from + 1);
    if (word.size() > 9 || word.find_first_not_of("0123456789") != std::string::npos) {
      fail(fmt::format("{}:{}: '{}' is not a rank", file, number, word));
    }
    result.push_back(static_cast<uint32_t>(std::stoul(word)));
  }
  return result;
}

}  // namespace weft::packet
