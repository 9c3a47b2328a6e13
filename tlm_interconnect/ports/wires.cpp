// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/ports/wires.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::fabric {
namespace {

/// Tells the signals of one wire.
class WireRecorder final : public sc_core::sc_module {
 public:
  /// `parts`: 64 bits each, the lowest first.
  WireRecorder(sc_core::sc_module_name name, const Wire& wire, std::vector<vcd::Probe> parts)
      : sc_core::sc_module(name), wire_(wire), parts_(std::move(parts)), words_(wire.wire_bits() / 32 + 2) {
    SC_HAS_PROCESS(WireRecorder);
    SC_METHOD(tell);
    sensitive << wire_.wire_changes();
    dont_initialize();
    tell();
  }

 private:
  void tell() {
    wire_.read_wire(words_.data());
    const vcd::Time now = sc_core::sc_time_stamp().value();
    for (size_t i = 0; i < parts_.size(); ++i) {
      uint64_t value = words_[2 * i];
      if (wire_.wire_bits() > 64 * i + 32) value |= static_cast<uint64_t>(words_[2 * i + 1]) << 32;
      if (parts_[i]) parts_[i].set(now, value);
    }
  }

  const Wire& wire_;
  std::vector<vcd::Probe> parts_;
  std::vector<uint32_t> words_;
};

using Recorders = std::vector<std::unique_ptr<sc_core::sc_module>>;

std::string signal_name(const Wire& wire) {
  std::string name = wire.wire_name();
  const auto stays = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
  };
  std::replace_if(
      name.begin(), name.end(), [&stays](char c) { return !stays(c); }, '_');
  return name;
}

void record(const Wire& wire, vcd::ProbeHub& probes, Recorders& recorders) {
  const uint32_t bits = wire.wire_bits();
  if (bits == 0) return;
  const std::string name = signal_name(wire);
  std::vector<vcd::Probe> parts;
  if (bits == 1) parts.push_back(probes.bit(name));
  if (bits > 1 && bits <= 64) parts.push_back(probes.number(name, bits));
  for (uint32_t low = 0; bits > 64 && low < bits; low += 64) {
    const uint32_t high = std::min(low + 64, bits) - 1;
    const std::string part = fmt::format("{}_{}_{}", name, high, low);
    parts.push_back(high == low ? probes.bit(part) : probes.number(part, high - low + 1));
  }
  if (std::any_of(parts.begin(), parts.end(),
                  [](const vcd::Probe& probe) { return static_cast<bool>(probe); }))
    recorders.push_back(
        std::make_unique<WireRecorder>(sc_core::sc_gen_unique_name("wire_recorder"), wire, std::move(parts)));
}

void find_wires(const std::vector<sc_core::sc_object*>& objects, std::vector<const Wire*>& wires) {
  for (const sc_core::sc_object* object : objects) {
    if (const auto* wire = dynamic_cast<const Wire*>(object)) wires.push_back(wire);
    find_wires(object->get_child_objects(), wires);
  }
}

}  // namespace

Recorders record_wires(vcd::ProbeHub& probes) {
  Recorders recorders;
  if (!probes.on()) return recorders;
  // All of them first: recorders become objects of the simulation, too.
  std::vector<const Wire*> wires;
  find_wires(sc_core::sc_get_top_level_objects(), wires);
  for (const Wire* wire : wires) record(*wire, probes, recorders);
  return recorders;
}

}  // namespace weft::fabric
