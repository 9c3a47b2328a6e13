// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The pins of one AXI4 memory-mapped port of a block. By their usual names:
//
//     AxiMaster in("in", clock, WEFT_AXI_PINS(rtl, s_axi), {});   // rtl.s_axi_awaddr, .. or s_axi_AWADDR, ..
//
// or one by one: pins.add(AxiSignal::awaddr, rtl.wr_addr). Address, data, valid and ready of the five
// channels are required. Without ids everything has the id 0; without lengths bursts have one beat
// (AXI4-Lite). LOCK, CACHE, PROT, QOS and REGION are held at 0 where the block has them as inputs.

#ifndef WEFT_COSIM_AXI_AXI_PINS_H
#define WEFT_COSIM_AXI_AXI_PINS_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cosim/axis/pins.h"

namespace weft::cosim {

// clang-format off
#define WEFT_AXI_SIGNALS_(X) \
  X(awid, AWID) X(awaddr, AWADDR) X(awlen, AWLEN) X(awsize, AWSIZE) X(awburst, AWBURST) X(awlock, AWLOCK) \
  X(awcache, AWCACHE) X(awprot, AWPROT) X(awqos, AWQOS) X(awregion, AWREGION) X(awvalid, AWVALID) \
  X(awready, AWREADY) X(wdata, WDATA) X(wstrb, WSTRB) X(wlast, WLAST) X(wvalid, WVALID) X(wready, WREADY) \
  X(bid, BID) X(bresp, BRESP) X(bvalid, BVALID) X(bready, BREADY) \
  X(arid, ARID) X(araddr, ARADDR) X(arlen, ARLEN) X(arsize, ARSIZE) X(arburst, ARBURST) X(arlock, ARLOCK) \
  X(arcache, ARCACHE) X(arprot, ARPROT) X(arqos, ARQOS) X(arregion, ARREGION) X(arvalid, ARVALID) \
  X(arready, ARREADY) X(rid, RID) X(rdata, RDATA) X(rresp, RRESP) X(rlast, RLAST) X(rvalid, RVALID) \
  X(rready, RREADY)
// clang-format on

enum class AxiSignal : uint8_t {
#define WEFT_AXI_NAME_(lower, upper) lower,
  WEFT_AXI_SIGNALS_(WEFT_AXI_NAME_)
#undef WEFT_AXI_NAME_
};
inline constexpr size_t kAxiSignals = static_cast<size_t>(AxiSignal::rready) + 1;
const char* to_string(AxiSignal signal);

class AxiPins {
 public:
  /// `name` is the port's in messages, for example "s_axi".
  explicit AxiPins(std::string name) : name_(std::move(name)) {}

  template <typename T>
  AxiPins& add(AxiSignal signal, sc_core::sc_in<T>& port, uint32_t bits = 0) {
    driven_[static_cast<size_t>(signal)] = drive_pin(port);
    widths_[static_cast<size_t>(signal)] = bits;
    return *this;
  }
  template <typename T>
  AxiPins& add(AxiSignal signal, sc_core::sc_out<T>& port, uint32_t bits = 0) {
    read_[static_cast<size_t>(signal)] = read_pin(port);
    widths_[static_cast<size_t>(signal)] = bits;
    return *this;
  }
  /// For WEFT_AXI_PINS: adds the pin that `get` finds in the model; without one does nothing.
  template <typename Model, typename Get>
  void find(Model& model, AxiSignal signal, const Get& get, const char* pin) {
    if constexpr (std::is_invocable<const Get&, Model&>::value)
      add(signal, get(model), PinWidths<Model>::of(pin));
  }

  /// What adapters do first. `block_is_slave`: the port is a slave port of the block. Errors:
  /// UserError(usage) for pins that are missing, have the other direction, or do not fit each other.
  void check(bool block_is_slave);
  /// Throws UserError(usage) with block and port before `what`.
  [[noreturn]] void refuse(const std::string& what) const;

  const std::string& name() const { return name_; }
  std::string block() const;
  /// SystemC's object of the block.
  sc_core::sc_object* object() const { return any(AxiSignal::wdata)->block(); }
  Pin* any(AxiSignal signal) const {
    const auto i = static_cast<size_t>(signal);
    return driven_[i] != nullptr ? driven_[i].get() : read_[i].get();
  }
  /// Null: the block has no such input.
  DrivenPin* driven(AxiSignal signal) const { return driven_[static_cast<size_t>(signal)].get(); }
  uint32_t width(AxiSignal signal) const { return widths_[static_cast<size_t>(signal)]; }

  // After check():
  uint32_t bytes() const { return width(AxiSignal::wdata) / 8; }  ///< of a beat
  uint32_t ids() const;                                           ///< values that ids can have, 65536 at most
  bool bursts() const { return any(AxiSignal::arlen) != nullptr; }

  // Values on the wires; 0 where there is no pin.
  uint64_t value(AxiSignal signal) const {
    const Pin* const pin = any(signal);
    return pin == nullptr ? 0 : pin->value();
  }
  bool high(AxiSignal signal) const { return (value(signal) & 1) != 0; }
  void drive(AxiSignal signal, uint64_t value) {
    if (DrivenPin* pin = driven(signal)) pin->write_value(value);
  }

 private:
  std::string name_;
  std::array<std::unique_ptr<DrivenPin>, kAxiSignals> driven_;
  std::array<std::unique_ptr<Pin>, kAxiSignals> read_;
  std::array<uint32_t, kAxiSignals> widths_{};
};

}  // namespace weft::cosim

#define WEFT_AXI_PIN_(pins, model, prefix, lower, upper)                                               \
  (pins).find(                                                                                         \
      model, ::weft::cosim::AxiSignal::lower,                                                          \
      [&](auto& weft_m_) -> decltype((weft_m_.prefix##_##lower)) { return weft_m_.prefix##_##lower; }, \
      #prefix "_" #lower);                                                                             \
  (pins).find(                                                                                         \
      model, ::weft::cosim::AxiSignal::lower,                                                          \
      [&](auto& weft_m_) -> decltype((weft_m_.prefix##_##upper)) { return weft_m_.prefix##_##upper; }, \
      #prefix "_" #upper);

// clang-format off
/// The pins PREFIX_awaddr, .. (or PREFIX_AWADDR, ..) of a model; of an optional one that it lacks: nothing.
#define WEFT_AXI_PINS(model, prefix) \
  [&] { \
    ::weft::cosim::AxiPins pins_(#prefix); \
    WEFT_AXI_PIN_(pins_, model, prefix, awid, AWID) \
    WEFT_AXI_PIN_(pins_, model, prefix, awaddr, AWADDR) \
    WEFT_AXI_PIN_(pins_, model, prefix, awlen, AWLEN) \
    WEFT_AXI_PIN_(pins_, model, prefix, awsize, AWSIZE) \
    WEFT_AXI_PIN_(pins_, model, prefix, awburst, AWBURST) \
    WEFT_AXI_PIN_(pins_, model, prefix, awlock, AWLOCK) \
    WEFT_AXI_PIN_(pins_, model, prefix, awcache, AWCACHE) \
    WEFT_AXI_PIN_(pins_, model, prefix, awprot, AWPROT) \
    WEFT_AXI_PIN_(pins_, model, prefix, awqos, AWQOS) \
    WEFT_AXI_PIN_(pins_, model, prefix, awregion, AWREGION) \
    WEFT_AXI_PIN_(pins_, model, prefix, awvalid, AWVALID) \
    WEFT_AXI_PIN_(pins_, model, prefix, awready, AWREADY) \
    WEFT_AXI_PIN_(pins_, model, prefix, wdata, WDATA) \
    WEFT_AXI_PIN_(pins_, model, prefix, wstrb, WSTRB) \
    WEFT_AXI_PIN_(pins_, model, prefix, wlast, WLAST) \
    WEFT_AXI_PIN_(pins_, model, prefix, wvalid, WVALID) \
    WEFT_AXI_PIN_(pins_, model, prefix, wready, WREADY) \
    WEFT_AXI_PIN_(pins_, model, prefix, bid, BID) \
    WEFT_AXI_PIN_(pins_, model, prefix, bresp, BRESP) \
    WEFT_AXI_PIN_(pins_, model, prefix, bvalid, BVALID) \
    WEFT_AXI_PIN_(pins_, model, prefix, bready, BREADY) \
    WEFT_AXI_PIN_(pins_, model, prefix, arid, ARID) \
    WEFT_AXI_PIN_(pins_, model, prefix, araddr, ARADDR) \
    WEFT_AXI_PIN_(pins_, model, prefix, arlen, ARLEN) \
    WEFT_AXI_PIN_(pins_, model, prefix, arsize, ARSIZE) \
    WEFT_AXI_PIN_(pins_, model, prefix, arburst, ARBURST) \
    WEFT_AXI_PIN_(pins_, model, prefix, arlock, ARLOCK) \
    WEFT_AXI_PIN_(pins_, model, prefix, arcache, ARCACHE) \
    WEFT_AXI_PIN_(pins_, model, prefix, arprot, ARPROT) \
    WEFT_AXI_PIN_(pins_, model, prefix, arqos, ARQOS) \
    WEFT_AXI_PIN_(pins_, model, prefix, arregion, ARREGION) \
    WEFT_AXI_PIN_(pins_, model, prefix, arvalid, ARVALID) \
    WEFT_AXI_PIN_(pins_, model, prefix, arready, ARREADY) \
    WEFT_AXI_PIN_(pins_, model, prefix, rid, RID) \
    WEFT_AXI_PIN_(pins_, model, prefix, rdata, RDATA) \
    WEFT_AXI_PIN_(pins_, model, prefix, rresp, RRESP) \
    WEFT_AXI_PIN_(pins_, model, prefix, rlast, RLAST) \
    WEFT_AXI_PIN_(pins_, model, prefix, rvalid, RVALID) \
    WEFT_AXI_PIN_(pins_, model, prefix, rready, RREADY) \
    return pins_; \
  }()
// clang-format on

#endif
