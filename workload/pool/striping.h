// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where the chunks of tensors are: policies of `memory.pool.striping`, for `split: whole`. Plugins bring
// others (sc_models/plugin.h).

#ifndef WEFT_WORKLOAD_POOL_STRIPING_H
#define WEFT_WORKLOAD_POOL_STRIPING_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "configs/named_registry.h"

namespace weft::pool {

struct Place {
  uint32_t group = 0;
  uint32_t way = 0;  ///< which switches between
};

/// A pure function: the same chunk is always at the same place.
class StripingPolicy {
 public:
  virtual ~StripingPolicy() = default;
  /// Of chunk j of NPU u's tensor.
  virtual Place place(uint32_t u, uint64_t j) const = 0;
};

/// What there is to choose from; neither is 0.
struct StripingContext {
  uint32_t groups = 1;
  uint32_t ways = 1;
};
using StripingMaker = std::function<std::unique_ptr<StripingPolicy>(const StripingContext& context)>;

NamedRegistry<StripingMaker>& striping_policies();

/// Throws UserError(usage) for a name that there is not, and for what a plugin's policy throws. A place of
/// such a policy beyond `groups` and `ways` is a UserError, too.
std::unique_ptr<StripingPolicy> make_striping(const std::string& name, uint32_t groups, uint32_t ways);

}  // namespace weft::pool

#endif
