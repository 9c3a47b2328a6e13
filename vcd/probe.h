// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_PROBE_H
#define WEFT_VCD_PROBE_H

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "vcd/vcd_writer.h"

namespace weft::vcd {

/// What a module holds of one signal: a writer and a number, 16 bytes, copied freely. Empty when the signal
/// was not selected, and then it costs one test:
///
///     if (bytes_) bytes_.set(now, total);
///
/// The calls below do nothing on an empty probe. `t` is in picoseconds, any time >= the writer's; values are
/// integers, bool, an enum, a floating-point number for a real signal, or text for a text signal. Errors are
/// those of VcdWriter::probe.
class Probe {
 public:
  Probe() = default;
  Probe(VcdWriter* writer, SignalId signal) : writer_(writer), signal_(signal) {}

  explicit operator bool() const { return writer_ != nullptr; }
  SignalId signal() const { return signal_; }

  /// The signal has value `v` from `t` on.
  template <class T>
  void set(Time t, const T& v) const {
    if (writer_ != nullptr) writer_->probe(t, signal_, plain(v));
  }

  /// The signal, a count, changes by `by` at each of these moments.
  void add(const Steps& steps, int by) const {
    if (writer_ != nullptr) writer_->add(steps, signal_, by);
  }

  /// As set(), for a value that may have to be taken back before `t`.
  template <class T>
  FutureHandle at(Time t, const T& v) const {
    return writer_ != nullptr ? writer_->probe_at(t, signal_, plain(v)) : FutureHandle();
  }

  /// Takes back what at() committed, and empties the handle. False if it is too late.
  bool revoke(FutureHandle& handle) const {
    const bool revoked = writer_ != nullptr && writer_->revoke(handle);
    handle = FutureHandle();
    return revoked;
  }

 private:
  template <class T>
  static auto plain(const T& v) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(v);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return static_cast<uint64_t>(v);
    } else {
      return std::string_view(v);
    }
  }

  VcdWriter* writer_ = nullptr;
  SignalId signal_{};
};

}  // namespace weft::vcd

#endif
