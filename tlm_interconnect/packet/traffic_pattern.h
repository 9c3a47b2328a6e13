// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Destinations of synthetic traffic. Kernel-free.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_PATTERN_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_PATTERN_H

#include <cstdint>
#include <string>
#include <vector>

#include "tlm_interconnect/packet/random.h"
#include "tlm_interconnect/packet/topology.h"

namespace weft::packet {

struct PatternConfig {
  std::string name =
      "uniform";  ///< uniform, transpose, bit_complement, neighbor, hotspot, all_to_one, permutation
  bool self_destinations = false;     ///< uniform, hotspot, all_to_one: a rank may send to itself
  uint32_t hotspot_rank = 0;          ///< hotspot and all_to_one
  double hotspot_weight = 8;          ///< how often the hot rank is drawn; every other rank counts 1
  std::vector<uint32_t> permutation;  ///< destination of each rank
};

class TrafficPattern {
 public:
  /// Throws UserError: unknown name, a number of ranks the pattern has no meaning for, a bad permutation.
  TrafficPattern(const PatternConfig& config, const PacketTopology& topology);
  /// True: `source` never sends (its fixed destination is itself and self-destinations are off).
  bool silent(uint32_t source) const;
  uint32_t draw(uint32_t source, Random& random) const;

  /// One destination a line, rank 0 first; blank lines and lines that start with '#' are skipped.
  static std::vector<uint32_t> read_permutation(const std::string& file);
  static std::vector<std::string> names();

 private:
  enum class Kind : uint8_t { uniform, hotspot, fixed };
  Kind kind_ = Kind::uniform;
  uint32_t ranks_;
  bool self_;
  uint32_t hot_;
  double hot_share_ = 0;
  std::vector<uint32_t> fixed_;
};

}  // namespace weft::packet

#endif
