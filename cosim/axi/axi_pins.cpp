// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axi/axi_pins.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/types.h"

namespace weft::cosim {
namespace {

using S = AxiSignal;

/// Inputs of a slave port.
constexpr bool from_master(S signal) {
  if (signal == S::awready || signal == S::wready || signal == S::arready) return false;
  if (signal >= S::bid && signal <= S::bvalid) return false;
  return !(signal >= S::rid && signal <= S::rvalid);
}

constexpr S kRequired[] = {S::awaddr, S::awvalid, S::awready, S::wdata,   S::wvalid, S::wready, S::bvalid,
                           S::bready, S::araddr,  S::arvalid, S::arready, S::rdata,  S::rvalid, S::rready};

}  // namespace

const char* to_string(AxiSignal signal) {
  static const char* const names[] = {
#define WEFT_AXI_NAME_(lower, upper) #upper,
      WEFT_AXI_SIGNALS_(WEFT_AXI_NAME_)
#undef WEFT_AXI_NAME_
  };
  return names[static_cast<size_t>(signal)];
}

std::string AxiPins::block() const {
  for (size_t i = 0; i < kAxiSignals; ++i)
    if (const Pin* pin = any(static_cast<S>(i))) return pin->block() == nullptr ? "" : pin->block()->name();
  return {};
}

void AxiPins::refuse(const std::string& what) const {
  throw UserError(ExitCode::usage, fmt::format("block {}, pins {}: {}", block(), name_, what));
}

uint32_t AxiPins::ids() const {
  const uint32_t bits = std::min(width(S::awid), width(S::arid));
  return any(S::awid) == nullptr ? 1 : 1u << std::min(bits, 16u);
}

void AxiPins::check(bool block_is_slave) {
  for (const S signal : kRequired)
    if (any(signal) == nullptr)
      refuse(fmt::format("{} is missing; name the block's pins PREFIX_{}, or add them one by one",
                         to_string(signal), to_string(signal)));
  for (size_t i = 0; i < kAxiSignals; ++i) {
    const auto signal = static_cast<S>(i);
    Pin* const pin = any(signal);
    if (pin == nullptr) continue;
    if (pin->output() == (from_master(signal) == block_is_slave))
      refuse(fmt::format("{} is an {} of the block, and of a {} port it is an {}", to_string(signal),
                         pin->output() ? "output" : "input", block_is_slave ? "slave" : "master",
                         pin->output() ? "input" : "output"));
    uint32_t& bits = widths_[i];
    if (bits == 0) bits = pin->most_bits();
    if (bits < pin->least_bits() || bits > pin->most_bits())
      refuse(fmt::format("{} has the type {}, which has no {} bits", to_string(signal), pin->type(), bits));
    pin->has_bits(bits);
    pin->is_signal(name_, to_string(signal));
  }
  const uint32_t data = width(S::wdata);
  if (data < 8 || data > 1024 || (data & (data - 1)) != 0)
    refuse(fmt::format("WDATA has {} bits; AXI4 has 8, 16, 32 .. 1024", data));
  if (width(S::rdata) != data)
    refuse(fmt::format("RDATA has {} bits, and WDATA {}; they have the same", width(S::rdata), data));
  // A native type says only how many bits there are at most.
  if (any(S::wstrb) != nullptr && any(S::wstrb)->least_bits() > data / 8)
    refuse(fmt::format("WSTRB has the type {}, and WDATA of {} bits has {} bytes", any(S::wstrb)->type(),
                       data, data / 8));
  if (any(S::wstrb) != nullptr && any(S::wstrb)->most_bits() < data / 8)
    refuse(fmt::format("WSTRB has {} bits at most, and WDATA of {} bits has {} bytes",
                       any(S::wstrb)->most_bits(), data, data / 8));
  if ((any(S::awlen) == nullptr) != (any(S::arlen) == nullptr))
    refuse("one of AWLEN and ARLEN is missing; a port has both, or none");
  // What the block gets has up to 256 beats; its own bursts can be shorter.
  for (const S signal : {S::awlen, S::arlen})
    if (block_is_slave && any(signal) != nullptr && width(signal) < 8)
      refuse(
          fmt::format("{} has {} bit{}, and bursts of AXI4 have a length of 8 bits; give the port 8 bits "
                      "(AXI3 has 4), or leave out AWLEN and ARLEN for single beats (AXI4-Lite)",
                      to_string(signal), width(signal), width(signal) == 1 ? "" : "s"));
  if ((any(S::awid) == nullptr) != (any(S::bid) == nullptr) ||
      (any(S::arid) == nullptr) != (any(S::rid) == nullptr))
    refuse("a request's id comes back with its response: AWID and BID, ARID and RID are there together");
}

}  // namespace weft::cosim
