// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Pins of a verilated block without their types. Verilator makes a pin's type of its width and of its
// options: bool, uint32_t, uint64_t or sc_bv<W> by default, sc_bv<W> from two bits on with --pins-bv 2, and
// others with other options. Adapters see words of 32 bits, the lowest ones first.

#ifndef WEFT_COSIM_AXIS_PINS_H
#define WEFT_COSIM_AXIS_PINS_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <type_traits>
#include <utility>
#include <vector>

#include "tlm_interconnect/ports/wires.h"

namespace weft::cosim {

inline constexpr uint32_t words_of(uint32_t bits) {
  return (bits + 31) / 32;
}

/// How many bits a pin of a type can have, and how its value is made of words. A type that is not here cannot
/// be a pin of an adapter: the compiler says so.
template <typename T>
struct PinType;

template <>
struct PinType<bool> {
  static constexpr uint32_t kLeast = 1, kMost = 1;
  static std::string name() { return "bool"; }
  static void put(bool& value, const uint32_t* words) { value = (words[0] & 1) != 0; }
  static void get(const bool& value, uint32_t* words) { words[0] = value ? 1 : 0; }
};
template <typename T, uint32_t Least, uint32_t Most>
struct NativePin {
  static constexpr uint32_t kLeast = Least, kMost = Most;
  static std::string name() { return "uint" + std::to_string(8 * sizeof(T)) + "_t"; }
  static void put(T& value, const uint32_t* words) {
    value = static_cast<T>(words[0]);
    if constexpr (sizeof(T) > 4) value |= static_cast<T>(words[1]) << 32;
  }
  static void get(const T& value, uint32_t* words) {
    words[0] = static_cast<uint32_t>(value);
    if constexpr (sizeof(T) > 4) words[1] = static_cast<uint32_t>(value >> 32);
  }
};
template <>
struct PinType<uint8_t> : NativePin<uint8_t, 2, 8> {};
template <>
struct PinType<uint16_t> : NativePin<uint16_t, 9, 16> {};
template <>
struct PinType<uint32_t> : NativePin<uint32_t, 2, 32> {};
template <>
struct PinType<uint64_t> : NativePin<uint64_t, 33, 64> {};
template <int W>
struct PinType<sc_dt::sc_bv<W>> {
  static constexpr uint32_t kLeast = W, kMost = W;
  static std::string name() { return "sc_bv<" + std::to_string(W) + ">"; }
  static void put(sc_dt::sc_bv<W>& value, const uint32_t* words) {
    for (int i = 0; i < value.size(); ++i) value.set_word(i, words[i]);
    if constexpr (W % 32 != 0) value.set_word(W / 32, words[W / 32] & ((uint32_t{1} << W % 32) - 1));
  }
  static void get(const sc_dt::sc_bv<W>& value, uint32_t* words) {
    for (int i = 0; i < value.size(); ++i) words[i] = value.get_word(i);
  }
};
template <int W>
struct PinType<sc_dt::sc_uint<W>> {
  static constexpr uint32_t kLeast = W, kMost = W;
  static std::string name() { return "sc_uint<" + std::to_string(W) + ">"; }
  static void put(sc_dt::sc_uint<W>& value, const uint32_t* words) {
    uint64_t bits = words[0];
    if constexpr (W > 32) bits |= static_cast<uint64_t>(words[1]) << 32;
    value = bits;
  }
  static void get(const sc_dt::sc_uint<W>& value, uint32_t* words) {
    const uint64_t bits = value.to_uint64();
    words[0] = static_cast<uint32_t>(bits);
    if constexpr (W > 32) words[1] = static_cast<uint32_t>(bits >> 32);
  }
};
template <int W>
struct PinType<sc_dt::sc_biguint<W>> {
  static constexpr uint32_t kLeast = W, kMost = W;
  static std::string name() { return "sc_biguint<" + std::to_string(W) + ">"; }
  static void put(sc_dt::sc_biguint<W>& value, const uint32_t* words) {
    sc_dt::sc_bv<W> bits;
    PinType<sc_dt::sc_bv<W>>::put(bits, words);
    value = bits;
  }
  static void get(const sc_dt::sc_biguint<W>& value, uint32_t* words) {
    PinType<sc_dt::sc_bv<W>>::get(sc_dt::sc_bv<W>(value), words);
  }
};

/// One pin of a block, and the wire that is bound to it.
class Pin {
 public:
  virtual ~Pin() = default;
  /// SystemC's name of the block's port.
  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }
  /// The bits that the pin's type allows; a native type does not say more.
  uint32_t least_bits() const { return least_; }
  uint32_t most_bits() const { return most_; }
  /// The bits that it has, as far as is known: the most, unless an adapter knows better.
  uint32_t bits() const { return bits_; }
  void has_bits(uint32_t bits) { bits_ = bits; }
  /// The name in waveforms: SystemC's, unless the port has none of its own, as the ports of an array of
  /// Verilator's have: then that of an adapter's pins, such as "s_axis[3]", and the signal.
  const std::string& wire_name() const { return wire_name_; }
  void is_signal(const std::string& pins, const char* signal);
  /// Words of a value: what write() reads and read() fills.
  uint32_t words() const { return words_of(most_); }
  /// The module that has the pin.
  sc_core::sc_object* block() const { return block_; }
  /// True: the block drives it.
  bool output() const { return output_; }
  /// The value on the wire.
  virtual void read(uint32_t* words) const = 0;
  /// The lowest 64 bits of it.
  virtual uint64_t value() const = 0;
  bool high() const { return bit_ != nullptr ? *bit_ : (value() & 1) != 0; }

 protected:
  Pin(const sc_core::sc_object& port, std::string type, uint32_t least, uint32_t most, bool output)
      : name_(port.name()),
        wire_name_(name_),
        type_(std::move(type)),
        least_(least),
        most_(most),
        bits_(most),
        block_(port.get_parent_object()),
        output_(output) {}

  const bool* bit_ = nullptr;  ///< the value of a pin of one bit

 private:
  std::string name_;
  std::string wire_name_;
  std::string type_;
  uint32_t least_;
  uint32_t most_;
  uint32_t bits_;
  sc_core::sc_object* block_;
  bool output_;
};

/// An input of the block.
class DrivenPin : public Pin {
 public:
  using Pin::Pin;
  virtual void write(const uint32_t* words) = 0;
  virtual void write_value(uint64_t value) = 0;
};

/// The wire of a pin; it is recorded under the name of the block's port.
template <typename T>
class PinWire final : public sc_core::sc_signal<T>, public fabric::Wire {
 public:
  PinWire(const char* name, const Pin& pin) : sc_core::sc_signal<T>(name), pin_(pin) {}
  std::string wire_name() const override { return pin_.wire_name(); }
  uint32_t wire_bits() const override { return pin_.bits(); }
  void read_wire(uint32_t* words) const override { PinType<T>::get(this->read(), words); }
  const sc_core::sc_event& wire_changes() const override { return this->value_changed_event(); }

 private:
  const Pin& pin_;
};

template <typename T, typename Base>
class PinOf final : public Base {
 public:
  template <typename Port>
  explicit PinOf(Port& port)
      : Base(port, PinType<T>::name(), PinType<T>::kLeast, PinType<T>::kMost, std::is_same<Base, Pin>::value),
        wire_(sc_core::sc_gen_unique_name((std::string(port.basename()) + "_wire").c_str()), *this),
        now_(wire_.read()) {
    if constexpr (std::is_same<T, bool>::value) this->bit_ = &now_;
    port.bind(wire_);
  }
  void read(uint32_t* words) const override { PinType<T>::get(now_, words); }
  uint64_t value() const override {
    if constexpr (std::is_integral<T>::value) return now_;
    uint32_t words[words_of(PinType<T>::kMost) + 1] = {};
    PinType<T>::get(now_, words);
    return words_of(PinType<T>::kMost) > 1 ? words[0] | static_cast<uint64_t>(words[1]) << 32 : words[0];
  }
  // Only of a DrivenPin: then they override its functions.
  void write(const uint32_t* words) {
    PinType<T>::put(next_, words);
    wire_.write(next_);
  }
  void write_value(uint64_t value) {
    uint32_t words[words_of(PinType<T>::kMost) + 1] = {static_cast<uint32_t>(value)};
    if (words_of(PinType<T>::kMost) > 1) words[1] = static_cast<uint32_t>(value >> 32);
    write(words);
  }

 private:
  PinWire<T> wire_;
  const T& now_;  ///< its value; edges read all pins, and read() is a call into the kernel
  T next_{};      ///< what is written; a wide one has memory of its own
};

/// Makes a wire for a pin of a block and binds it. While the block is built.
template <typename T>
std::unique_ptr<DrivenPin> drive_pin(sc_core::sc_in<T>& port) {
  return std::make_unique<PinOf<T, DrivenPin>>(port);
}
template <typename T>
std::unique_ptr<Pin> read_pin(sc_core::sc_out<T>& port) {
  return std::make_unique<PinOf<T, Pin>>(port);
}

/// Throws UserError(usage): the value has more bits than the pin can have.
void check_constant(const Pin& pin, uint64_t value);

/// For pins of a block that nobody uses: constants, and outputs that nobody reads.
class PinTies {
 public:
  /// Throws UserError(usage): the pin's type does not hold the value.
  template <typename T>
  void constant(sc_core::sc_in<T>& port, uint64_t value) {
    auto pin = drive_pin(port);
    check_constant(*pin, value);
    pin->write_value(value);
    pins_.push_back(std::move(pin));
  }
  template <typename T>
  void open(sc_core::sc_out<T>& port) {
    pins_.push_back(read_pin(port));
  }

 private:
  std::vector<std::unique_ptr<Pin>> pins_;
};

/// Errors: UserError(usage) for a port of `block` that is bound to nothing; it names the port and says what
/// to do. When the simulation starts. Adapters check their block by themselves.
void check_bound(const sc_core::sc_object& block);

/// The widths of a block's pins by their names, as weft_add_rtl_block writes them into NAME.h. Without that
/// header a native type says only that a pin has, for example, 2 to 32 bits.
template <typename Model>
struct PinWidths {
  /// 0: unknown.
  static uint32_t of(const char*) { return 0; }
};

}  // namespace weft::cosim

#endif
