// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_PROBE_LISTENER_H
#define WEFT_VCD_PROBE_LISTENER_H

#include <cstdint>
#include <optional>
#include <string_view>

#include "vcd/value.h"

namespace weft::vcd {

/// A signal as its module declares it.
struct Signal {
  std::string_view name;  ///< full, scopes separated by dots: "job.npu0.nmu.state"
  Kind kind = Kind::bit;
  unsigned width = 1;                ///< of a number, in bits
  const EnumTable* table = nullptr;  ///< of an enumeration, else null
};

/// Something that listens to signals: a waveform, a timeline, statistics. It joins a ProbeHub before the
/// machine is built, is asked once for every signal there is, and hears the changes of those it wants.
///
/// A change comes with its time, which may be ahead of the kernel's time: models know early. Of two changes
/// of one signal at one time the one that was told last holds.
class ProbeListener {
 public:
  virtual ~ProbeListener() = default;

  /// Does it want this signal?
  virtual bool wants(std::string_view name) = 0;
  /// A wanted signal. Changes name it by the number that is returned.
  virtual SignalId declared(const Signal& signal) = 0;
  /// A wanted signal that has the value of `other` at all times. True: it is a name of `other` here and is
  /// told of no changes; false: it is to be declared as a signal of its own.
  virtual bool aliased([[maybe_unused]] const Signal& signal, [[maybe_unused]] SignalId other) {
    return false;
  }

  /// A wanted real number that has the value it is told while the bit `gate` is set, and is 0 while it is
  /// not. Its number, if the listener knows that by itself; otherwise the number is declared as any other and
  /// told of every 0.
  virtual std::optional<SignalId> gated([[maybe_unused]] const Signal& signal,
                                        [[maybe_unused]] SignalId gate) {
    return std::nullopt;
  }

  /// The signal has `value` from `t` on (ps): of bits, numbers and enumerations, of reals, of texts.
  virtual void changed(Time t, SignalId signal, uint64_t value) = 0;
  virtual void changed(Time t, SignalId signal, double value) = 0;
  virtual void changed(Time t, SignalId signal, std::string_view value) = 0;
  /// A bit is 1 from `start` to `end`, and 0 after that. Spans are told in order; one that starts where the
  /// one before it ended, or earlier, goes on with it. `before`: where that one ended.
  virtual void spanned(Time start, Time end, SignalId signal, Time before) {
    changed(start, signal, uint64_t{1});
    if (before > start) changed(before, signal, uint64_t{1});
    changed(end, signal, uint64_t{0});
  }
  /// As changed(), and names the change so that it can be taken back before `t`. The handle is empty if it
  /// cannot.
  virtual FutureHandle expected(Time t, SignalId signal, uint64_t value) = 0;
  virtual FutureHandle expected(Time t, SignalId signal, double value) = 0;
  virtual FutureHandle expected(Time t, SignalId signal, std::string_view value) = 0;
  /// Takes back what was expected. False if it is too late.
  virtual bool revoked(const FutureHandle& handle) = 0;
  /// A count changes by `by` at each of the steps, whatever else adds to it.
  virtual void counted(const Steps& steps, SignalId signal, int by) = 0;
};

}  // namespace weft::vcd

#endif
