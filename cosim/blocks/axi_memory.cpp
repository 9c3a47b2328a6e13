// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/axi_memory.h"

#include <fmt/format.h>

#include <utility>

namespace weft::cosim {

AxiMemory::AxiMemory(sc_core::sc_module_name module_name, const MemoryContext& context, uint64_t capacity,
                     const BlockClock::Options& clock)
    : TlmMemory(module_name, context, Options{capacity, false, 64}), clock_("clock", clock) {}

AxiMemory::~AxiMemory() = default;

void AxiMemory::attach(AxiPins pins, AxiMaster::Options options) {
  axi_ = std::make_unique<AxiMaster>("axi", clock_, std::move(pins), std::move(options));
  socket().bind(axi_->target());
}

std::string AxiMemory::stall_text() const {
  const std::string handshake = axi_ == nullptr ? std::string{} : axi_->stall_text();
  if (handshake.empty()) return MemoryTarget::stall_text();
  return fmt::format("  {}: {}{}\n", name(), handshake, clock_.stall_line());
}

}  // namespace weft::cosim
