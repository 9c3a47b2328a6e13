// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axis/pins.h"

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::cosim {

void check_bound(const sc_core::sc_object& block) {
  std::string open;
  for (sc_core::sc_object* object : block.get_child_objects()) {
    auto* port = dynamic_cast<sc_core::sc_port_base*>(object);
    if (port == nullptr || port->bind_count() != 0) continue;
    open += fmt::format("{}{} ({})", open.empty() ? "" : ", ", port->basename(), port->kind());
  }
  if (open.empty()) return;
  throw UserError(
      ExitCode::usage,
      fmt::format("block {}: these pins are bound to nothing: {}; give them to an adapter or a clock, or "
                  "bind them with PinTies: constant(pin, value) for an input, open(pin) for an output",
                  block.name(), open));
}

}  // namespace weft::cosim
