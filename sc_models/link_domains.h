// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which traffic can meet. A domain is a set of links: of a dimension that is one switch, or joins NPUs in
// pairs, those of one NPU; of any other dimension those of one line; of a graph all. Traffic without a common
// domain uses no common link.

#ifndef WEFT_SC_MODELS_LINK_DOMAINS_H
#define WEFT_SC_MODELS_LINK_DOMAINS_H

#include <cstdint>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"

namespace weft {

class LinkDomains {
 public:
  explicit LinkDomains(const Config& config);

  uint32_t count() const { return count_; }
  /// Of what these NPUs send each other, in ascending order. Empty `npus`: all.
  std::vector<uint32_t> of_group(const std::vector<uint32_t>& npus) const;
  std::vector<uint32_t> of_message(uint32_t from, uint32_t to) const;

 private:
  uint32_t domain(uint32_t place, uint32_t d) const {
    return first_[d] + (of_npus_[d] ? place : geometry_.line(place, d));
  }

  const Geometry geometry_;
  std::vector<uint32_t> first_;  ///< domain of a dimension
  std::vector<bool> of_npus_;    ///< by dimension: each NPU has one
  uint32_t count_ = 0;
};

}  // namespace weft

#endif
