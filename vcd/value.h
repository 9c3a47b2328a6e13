// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The words shared by the writer, the probes and the view: times, signal numbers, kinds and errors.

#ifndef WEFT_VCD_VALUE_H
#define WEFT_VCD_VALUE_H

#include <cstdint>
#include <stdexcept>
#include <string>

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

/// A waveform file that cannot be opened or written: a full disk, a missing folder, a budget too small for
/// the header.
class WriteError : public std::runtime_error {
 public:
  WriteError(const std::string& file, const std::string& reason)
      : std::runtime_error("waveform file '" + file + "': " + reason), file_(file), reason_(reason) {}
  const std::string& file() const { return file_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string file_;
  std::string reason_;
};

/// Names a value that was committed ahead of its time, so that it can be revoked. Default-constructed: none.
class FutureHandle {
 public:
  FutureHandle() = default;
  /// True if a value was committed; says nothing about whether it has been written since.
  explicit operator bool() const { return sequence_ != 0; }

 private:
  friend class VcdWriter;
  FutureHandle(uint32_t slot, uint64_t sequence) : slot_(slot), sequence_(sequence) {}
  uint32_t slot_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace weft::vcd

#endif
