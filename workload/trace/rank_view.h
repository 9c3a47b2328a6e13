// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_TRACE_RANK_VIEW_H
#define WEFT_WORKLOAD_TRACE_RANK_VIEW_H

#include <cstdint>

#include "workload/trace/node.h"

namespace weft::trace {

/// How the ranks of a class read the one program that they have (ClassManifest).
class RankView {
 public:
  virtual ~RankView() = default;
  /// Puts the rank's own groups, peers and roots in place of those that the program names.
  virtual void apply(uint32_t rank, Node& node) const = 0;
};

}  // namespace weft::trace

#endif
