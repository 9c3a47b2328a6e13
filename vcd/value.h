// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The words shared by probes, their listeners, the writer and the view: times, signals, kinds and errors.

#ifndef WEFT_VCD_VALUE_H
#define WEFT_VCD_VALUE_H

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::vcd {

/// Simulated time in integer picoseconds.
using Time = uint64_t;

/// A signal's number in its writer: dense, in order of declaration.
enum class SignalId : uint32_t {};
constexpr uint32_t index(SignalId id) {
  return static_cast<uint32_t>(id);
}

/// What a signal holds. An enumeration is a number whose values have names (EnumTable); text is a string,
/// which is an extension to IEEE 1364 that GTKWave and the fst tools read.
enum class Kind : uint8_t { bit, number, real, enumeration, text };

/// The names of an enumeration's values, by value. They hold no line breaks; there is at least one.
using EnumTable = std::vector<std::string>;

/// `count` moments, `stride` apart, in units of which `per_picosecond` are a picosecond; what is between two
/// picoseconds is at the later one. The order of the members matters to WriterThread::Call.
struct Steps {
  uint64_t first;
  uint32_t count;
  uint32_t per_picosecond;
  uint64_t stride;
  Time begin;  ///< of the first of them (ps)
  Time end;    ///< .. the last

  // Inline, because whoever makes them knows the unit as a constant.
  constexpr Steps(uint64_t first_moment, uint32_t steps = 1, uint64_t apart = 0, uint32_t per_ps = 1)
      : first(first_moment),
        count(steps),
        per_picosecond(per_ps),
        stride(apart),
        begin(in_picoseconds(first_moment, per_ps)),
        end(steps <= 1 ? begin : in_picoseconds(first_moment + (steps - 1) * apart, per_ps)) {}

  static constexpr Time in_picoseconds(uint64_t moment, uint32_t per_picosecond) {
    return (moment + per_picosecond - 1) / per_picosecond;
  }
};

/// A waveform file that cannot be opened or written: a full disk, a missing folder, a budget too small for
/// the header.
class WriteError : public std::runtime_error {
 public:
  WriteError(const std::string& file, const std::string& reason, bool over_budget = false)
      : std::runtime_error("waveform file '" + file + "': " + reason),
        file_(file),
        reason_(reason),
        over_budget_(over_budget) {}
  const std::string& file() const { return file_; }
  const std::string& reason() const { return reason_; }
  /// The budget is too small for the header: the disk is not to blame.
  bool over_budget() const { return over_budget_; }

 private:
  std::string file_;
  std::string reason_;
  bool over_budget_;
};

/// Names a value that was committed ahead of its time, so that it can be revoked. Default-constructed: none.
struct FutureHandle {
  uint32_t slot = 0;      ///< of the listener
  uint64_t sequence = 0;  ///< .. which value of the slot; 0: none
  /// Where several listeners hear the signal: the handle of each.
  std::shared_ptr<const std::vector<FutureHandle>> of_each;

  /// True if a value was committed; says nothing about whether it has been written since.
  explicit operator bool() const { return sequence != 0; }
};

}  // namespace weft::vcd

#endif
