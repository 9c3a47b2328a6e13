// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/routing/ring_classes.h"

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::packet {

RingClasses ring_classes_from(const std::string& name) {
  if (name == "none") return RingClasses::none;
  if (name == "dateline") return RingClasses::dateline;
  if (name == "switched_dateline") return RingClasses::switched_dateline;
  if (name == "bubble") return RingClasses::bubble;
  throw UserError(
      ExitCode::usage,
      fmt::format("unknown VC classes '{}': use one of dateline, switched_dateline, bubble, none", name));
}

}  // namespace weft::packet
