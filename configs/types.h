// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The vocabulary every room shares: strong ids, collective operations, fidelity, exact rates, and the exit
// codes.

#ifndef WEFT_CONFIGS_TYPES_H
#define WEFT_CONFIGS_TYPES_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace weft {

enum class NpuId : uint32_t {};
enum class PortId : uint32_t {};
enum class VcId : uint8_t {};

constexpr uint32_t index(NpuId id) {
  return static_cast<uint32_t>(id);
}
constexpr uint32_t index(PortId id) {
  return static_cast<uint32_t>(id);
}
constexpr uint32_t index(VcId id) {
  return static_cast<uint32_t>(id);
}

/// Simulated time in integer picoseconds. Never a double.
using Picoseconds = uint64_t;
constexpr Picoseconds kNever = ~Picoseconds{0};

/// The collectives of Chakra's CollectiveCommType (the numbering there is in workload/trace).
enum class CollectiveOp : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier
};
constexpr int kCollectiveOps = 9;

enum class Fidelity : uint8_t { analytical, message, packet };
enum class Switching : uint8_t { store_and_forward, cut_through };
enum class DimensionKind : uint8_t { ring, fully_connected, switch_, mesh };

const char* to_string(CollectiveOp op);
const char* to_string(Fidelity fidelity);
const char* to_string(Switching switching);
const char* to_string(
    DimensionKind kind);  ///< the notation's word: "Ring", "FullyConnected", "Switch", "Mesh"

/// For products of bytes and picoseconds, which 64 bits do not hold.
__extension__ typedef unsigned __int128 Wide;

/// An exact bandwidth: numerator / denominator bytes per second (a pair link of FullyConnected(8) that has
/// 200 GiB/s an NPU is 200 GiB/s / 7, which no integer holds).
struct Rate {
  uint64_t bytes_per_second = 0;
  uint32_t divisor = 1;

  double value() const { return static_cast<double>(bytes_per_second) / divisor; }
  bool operator==(const Rate& o) const {
    return static_cast<Wide>(bytes_per_second) * o.divisor == static_cast<Wide>(o.bytes_per_second) * divisor;
  }
  bool operator!=(const Rate& o) const { return !(*this == o); }
};

/// ceil(bytes / rate) in picoseconds. The rate must not be zero.
inline Picoseconds transfer_time(uint64_t bytes, Rate rate) {
  const Wide n = static_cast<Wide>(bytes) * rate.divisor * 1000000000000ull;
  return static_cast<Picoseconds>((n + rate.bytes_per_second - 1) / rate.bytes_per_second);
}

/// Process exit codes of every Weft program (documented in docs/user_guide.md).
enum class ExitCode : int { done = 0, internal = 1, usage = 2, trace = 3, stall = 4 };

/// A failure a user can mend. `what()` says what is wrong, where, and what to do; `code()` is the exit code.
class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace weft

#endif
