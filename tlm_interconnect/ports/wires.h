// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Wires of co-simulated blocks in the waveforms: pins, clocks and resets, beside Weft's own signals.

#ifndef WEFT_TLM_INTERCONNECT_PORTS_WIRES_H
#define WEFT_TLM_INTERCONNECT_PORTS_WIRES_H

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "vcd/probe_hub.h"

namespace weft::fabric {

/// What a channel at the boundary of a block derives from, beside sc_signal<T>: only its owner knows T.
class Wire {
 public:
  virtual ~Wire() = default;
  /// Hierarchical, as the block names it: "job.switch0_0.rtl.s_axis_tdata".
  virtual std::string wire_name() const = 0;
  /// 0: it is used by nobody.
  virtual uint32_t wire_bits() const = 0;
  /// The value in words of 32 bits, the lowest first; `words` has room for wire_bits() and 32 bits more.
  virtual void read_wire(uint32_t* words) const = 0;
  virtual const sc_core::sc_event& wire_changes() const = 0;
};

/// A wire of one bit under its own name.
class BitWire final : public sc_core::sc_signal<bool>, public Wire {
 public:
  explicit BitWire(const char* name, bool value = false) : sc_core::sc_signal<bool>(name, value) {}
  std::string wire_name() const override { return name(); }
  uint32_t wire_bits() const override { return 1; }
  void read_wire(uint32_t* words) const override { words[0] = read() ? 1 : 0; }
  const sc_core::sc_event& wire_changes() const override { return value_changed_event(); }
};

/// Declares all wires that the simulation has. Wires of more than 64 bits become signals of 64 bits each:
/// "s_axis_tdata_63_0", "s_axis_tdata_127_64" .. A wire that a listener wants gets a module that runs when it
/// changes; others cost nothing. Before the simulation starts, when all blocks are built. The modules that
/// are returned live as long as the simulation.
[[nodiscard]] std::vector<std::unique_ptr<sc_core::sc_module>> record_wires(vcd::ProbeHub& probes);

}  // namespace weft::fabric

#endif
