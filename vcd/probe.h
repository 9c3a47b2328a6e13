// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_PROBE_H
#define WEFT_VCD_PROBE_H

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "vcd/probe_listener.h"

namespace weft::vcd {

/// What a module holds of one signal: a listener and a number, 16 bytes, copied freely. Empty when nobody
/// listens to the signal, and then it costs one test:
///
///     if (bytes_) bytes_.set(now, total);
///
/// The calls below do nothing on an empty probe. `t` is in picoseconds, now or later; values are integers,
/// bool, an enum, a floating-point number for a real signal, or text for a text signal. Errors are those of
/// the listener (of waveforms: VcdWriter::probe).
class Probe {
 public:
  /// Who hears of the signal, and by what number.
  struct End {
    ProbeListener* listener = nullptr;
    SignalId signal{};
  };

  Probe() = default;
  Probe(ProbeListener* listener, SignalId signal) : end_{listener, signal} {}
  Probe(const End& end) : end_(end) {}

  explicit operator bool() const { return end_.listener != nullptr; }
  const End& end() const { return end_; }

  /// The signal has value `v` from `t` on.
  template <class T>
  void set(Time t, const T& v) const {
    if (end_.listener != nullptr) end_.listener->changed(t, end_.signal, plain(v));
  }

  /// A bit is set in spans; see ProbeListener::spanned.
  void span(Time start, Time end, Time before) const {
    if (end_.listener != nullptr) end_.listener->spanned(start, end, end_.signal, before);
  }

  /// As set(), for a value that may have to be taken back before `t`.
  template <class T>
  FutureHandle at(Time t, const T& v) const {
    return end_.listener != nullptr ? end_.listener->expected(t, end_.signal, plain(v)) : FutureHandle();
  }

  /// Takes back what at() committed, and empties the handle. False if it is too late.
  bool revoke(FutureHandle& handle) const {
    const bool revoked = end_.listener != nullptr && handle && end_.listener->revoked(handle);
    handle = FutureHandle();
    return revoked;
  }

  /// The signal, a count, changes by `by` at each of these moments.
  void add(const Steps& steps, int by) const {
    if (end_.listener != nullptr) end_.listener->counted(steps, end_.signal, by);
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

  End end_;
};

}  // namespace weft::vcd

#endif
