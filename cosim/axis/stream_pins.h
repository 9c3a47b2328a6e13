// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The pins of one AXI4-Stream port of a block. By their usual names:
//
//     StreamMaster in("in", clock, WEFT_STREAM_PINS(rtl, s_axis));        // rtl.s_axis_tdata, ..
//     StreamSlave out("out", clock, WEFT_STREAM_PINS(rtl, M_AXIS));       // rtl.M_AXIS_TDATA, ..
//     StreamMaster in2("in2", clock, WEFT_STREAM_PINS_AT(rtl, s_axis, 2));  // rtl.s_axis_tdata[2], ..
//
// or one by one:
//
//     StreamPins pins("s");
//     pins.tdata(rtl.s_data).tvalid(rtl.s_vld).tready(rtl.s_rdy);
//
// TVALID, TREADY and TDATA are required; TKEEP, TSTRB, TLAST, TID, TDEST and TUSER are used where the block
// has them. The adapter checks that directions and widths fit.

#ifndef WEFT_COSIM_AXIS_STREAM_PINS_H
#define WEFT_COSIM_AXIS_STREAM_PINS_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "cosim/axis/pins.h"

namespace weft::cosim {

enum class StreamSignal : uint8_t { tdata, tvalid, tready, tkeep, tstrb, tlast, tid, tdest, tuser };
inline constexpr size_t kStreamSignals = 9;
const char* to_string(StreamSignal signal);

class StreamPins {
 public:
  /// `name` is the port's in messages, for example "s_axis".
  explicit StreamPins(std::string name) : name_(std::move(name)) {}

  // Each takes an sc_in or sc_out of the block, and makes and binds its wire.
  template <typename Port>
  StreamPins& tdata(Port& port) {
    return add(StreamSignal::tdata, port);
  }
  template <typename Port>
  StreamPins& tvalid(Port& port) {
    return add(StreamSignal::tvalid, port);
  }
  template <typename Port>
  StreamPins& tready(Port& port) {
    return add(StreamSignal::tready, port);
  }
  template <typename Port>
  StreamPins& tkeep(Port& port) {
    return add(StreamSignal::tkeep, port);
  }
  template <typename Port>
  StreamPins& tstrb(Port& port) {
    return add(StreamSignal::tstrb, port);
  }
  template <typename Port>
  StreamPins& tlast(Port& port) {
    return add(StreamSignal::tlast, port);
  }
  template <typename Port>
  StreamPins& tid(Port& port) {
    return add(StreamSignal::tid, port);
  }
  template <typename Port>
  StreamPins& tdest(Port& port) {
    return add(StreamSignal::tdest, port);
  }
  template <typename Port>
  StreamPins& tuser(Port& port) {
    return add(StreamSignal::tuser, port);
  }
  /// How many bits TDATA has. Needed where the pin's type does not say it (a uint32_t has 2 to 32) and NAME.h
  /// of weft_add_rtl_block is not included; else all bits of the type count.
  StreamPins& data_bits(uint32_t bits) {
    width(StreamSignal::tdata) = bits;
    return *this;
  }
  /// How many bits a pin has; 0: not known better than by its type.
  uint32_t& width(StreamSignal signal) { return widths_[static_cast<size_t>(signal)]; }
  uint32_t width(StreamSignal signal) const { return widths_[static_cast<size_t>(signal)]; }

  /// The same, or all bits of its type; 0: there is no such pin.
  uint32_t bits(StreamSignal signal) const {
    const Pin* const pin = any(signal);
    return pin == nullptr ? 0 : width(signal) != 0 ? width(signal) : pin->most_bits();
  }

  const std::string& name() const { return name_; }
  /// SystemC's name of the module that has the pins.
  std::string block() const;
  /// What adapters do first: missing pins, directions and widths. Then width() of all pins is known. Errors:
  /// UserError(usage).
  void check(bool driven_by_adapter);
  /// check() as an expression.
  static StreamPins checked(StreamPins pins, bool driven_by_adapter);
  /// check_bound() of the block that has the pins.
  void check_block() const;
  /// Throws UserError(usage) with block and port before `what`.
  [[noreturn]] void refuse(const std::string& what) const;
  /// Null: the block has none, or it has the other direction.
  DrivenPin* driven(StreamSignal signal) const { return driven_[static_cast<size_t>(signal)].get(); }
  Pin* read(StreamSignal signal) const { return read_[static_cast<size_t>(signal)].get(); }
  /// Of either direction.
  Pin* any(StreamSignal signal) const {
    DrivenPin* pin = driven(signal);
    return pin != nullptr ? pin : read(signal);
  }

  template <typename T>
  StreamPins& add(StreamSignal signal, sc_core::sc_in<T>& port) {
    driven_[static_cast<size_t>(signal)] = drive_pin(port);
    return *this;
  }
  template <typename T>
  StreamPins& add(StreamSignal signal, sc_core::sc_out<T>& port) {
    read_[static_cast<size_t>(signal)] = read_pin(port);
    return *this;
  }

  /// For WEFT_STREAM_PINS: adds the pin that `get` finds in the model; without one does nothing.
  template <typename Model, typename Get>
  void find(Model& model, StreamSignal signal, const Get& get, const char* pin) {
    if constexpr (std::is_invocable<const Get&, Model&>::value) {
      add(signal, get(model));
      width(signal) = PinWidths<Model>::of(pin);
    }
  }

 private:
  void check_widths();
  void check_bits(StreamSignal signal, uint32_t bits, const std::string& why);

  std::string name_;
  std::array<std::unique_ptr<DrivenPin>, kStreamSignals> driven_;
  std::array<std::unique_ptr<Pin>, kStreamSignals> read_;
  std::array<uint32_t, kStreamSignals> widths_{};
};

}  // namespace weft::cosim

// Looks for one pin in both spellings. `at` is empty or an index in brackets.
#define WEFT_STREAM_PIN_(pins, model, prefix, at, lower, upper)                                              \
  (pins).find(                                                                                               \
      model, ::weft::cosim::StreamSignal::lower,                                                             \
      [&](auto& weft_m_) -> decltype((weft_m_.prefix##_##lower at)) { return weft_m_.prefix##_##lower at; }, \
      #prefix "_" #lower);                                                                                   \
  (pins).find(                                                                                               \
      model, ::weft::cosim::StreamSignal::lower,                                                             \
      [&](auto& weft_m_) -> decltype((weft_m_.prefix##_##upper at)) { return weft_m_.prefix##_##upper at; }, \
      #prefix "_" #upper)
#define WEFT_STREAM_PINS_(model, prefix, at, name)              \
  [&] {                                                         \
    ::weft::cosim::StreamPins pins_(name);                      \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tdata, TDATA);   \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tvalid, TVALID); \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tready, TREADY); \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tkeep, TKEEP);   \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tstrb, TSTRB);   \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tlast, TLAST);   \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tid, TID);       \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tdest, TDEST);   \
    WEFT_STREAM_PIN_(pins_, model, prefix, at, tuser, TUSER);   \
    return pins_;                                               \
  }()

/// The pins PREFIX_tdata, PREFIX_tvalid, .. (or PREFIX_TDATA, ..) of a model; of an optional one that the
/// model does not have: nothing.
#define WEFT_STREAM_PINS(model, prefix) WEFT_STREAM_PINS_(model, prefix, , #prefix)
/// Those of element `index` of an array of ports: `input [31:0] s_axis_tdata [8]`.
#define WEFT_STREAM_PINS_AT(model, prefix, index) \
  WEFT_STREAM_PINS_(model, prefix, [index], #prefix "[" + std::to_string(index) + "]")

#endif
