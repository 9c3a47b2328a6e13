// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axis/pins.h"

#include <fmt/format.h>

#include <cctype>

#include "configs/types.h"

namespace weft::cosim {

void Pin::is_signal(const std::string& pins, const char* signal) {
  const size_t dot = name_.rfind('.');
  const std::string own = name_.substr(dot == std::string::npos ? 0 : dot + 1);
  // SystemC's name of a port without a name: port_7.
  if (own.rfind("port_", 0) != 0 || own.find_first_not_of("0123456789", 5) != std::string::npos) return;
  std::string text;
  for (const char c : pins) {
    if (c == '[')
      text += '_';
    else if (c != ']')
      text += c;
  }
  text += '_';
  for (const char* c = signal; *c != '\0'; ++c)
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  wire_name_ = name_.substr(0, name_.size() - own.size()) + text;
}

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

void check_constant(const Pin& pin, uint64_t value) {
  if (pin.most_bits() >= 64 || value >> pin.most_bits() == 0) return;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: the constant {} does not fit a pin of type {}: give a value below {}",
                              pin.name(), value, pin.type(), uint64_t{1} << pin.most_bits()));
}

}  // namespace weft::cosim
