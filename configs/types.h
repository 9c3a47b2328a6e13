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
enum class VcId : uint8_t {};

constexpr uint32_t index(NpuId id) {
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

/// Process exit codes of every Weft program (documented in docs/guide/errors.md).
enum class ExitCode : int {
  done = 0,
  internal = 1,
  usage = 2,
  trace = 3,
  stall = 4,
  unmet = 5,          ///< `weft run --check`: the results are not what `expect` says
  interrupted = 130,  ///< by SIGINT
  terminated = 143    ///< by SIGTERM
};

/// A failure a user can mend. `what()` says what is wrong, where, and what to do; `code()` is the exit code.
class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A time that 64 bits of picoseconds cannot hold (213 days): what later(), times() and transfer_time()
/// throw. The place that knows what was to take so long says so with in_time().
class TimeOverflow : public UserError {
 public:
  TimeOverflow();
  /// `what` was to take so long; `remedy` says what to do.
  UserError of(const std::string& what, const std::string& remedy) const;
};

/// Throws TimeOverflow. Out of line, so that the checks stay small.
[[noreturn]] void time_overflow();
/// Throws UserError: a count of bytes, or a sum of waiting times, that 64 bits cannot hold.
[[noreturn]] void count_overflow();

/// The whole program's checked arithmetic of time: whoever computes a time from bytes, or adds a duration to
/// one, does it with these.
inline Picoseconds later(Picoseconds t, Picoseconds by) {
  if (__builtin_expect(by >= kNever - t, 0)) time_overflow();
  return t + by;
}
inline Picoseconds within_time(Wide t) {
  if (__builtin_expect(t >= kNever, 0)) time_overflow();
  return static_cast<Picoseconds>(t);
}
inline Picoseconds times(Picoseconds t, uint64_t n) {
  return within_time(static_cast<Wide>(t) * n);
}
/// For bounds and statistics, which say "at least so much" where they do not fit.
inline Picoseconds saturated(Wide t) {
  return t >= kNever ? kNever : static_cast<Picoseconds>(t);
}

/// bytes / rate, exactly: whole picoseconds, and what is left in units of 1 / rate.bytes_per_second ps. The
/// rate must not be zero; bytes and divisor together have at most 104 bits.
struct ExactTime {
  Wide whole = 0;
  uint64_t remainder = 0;
};
inline ExactTime exact_time(Wide bytes, Rate rate) {
  constexpr uint64_t kSecond = 1000000000000ull;
  const Wide n = bytes * rate.divisor;
  if (__builtin_expect((n >> 64) == 0, 1)) {
    const Wide t = n * kSecond;
    return {t / rate.bytes_per_second, static_cast<uint64_t>(t % rate.bytes_per_second)};
  }
  const Wide seconds = n / rate.bytes_per_second;
  if ((seconds >> 80) != 0) return {static_cast<Wide>(1) << 120, 0};
  const Wide rest = n % rate.bytes_per_second * kSecond;
  return {seconds * kSecond + rest / rate.bytes_per_second,
          static_cast<uint64_t>(rest % rate.bytes_per_second)};
}

/// ceil(bytes / rate) in picoseconds, for bounds: however long.
inline Wide any_transfer_time(Wide bytes, Rate rate) {
  const ExactTime t = exact_time(bytes, rate);
  return t.whole + (t.remainder != 0 ? 1 : 0);
}
/// The same as a time. Throws TimeOverflow.
inline Picoseconds transfer_time(Wide bytes, Rate rate) {
  return within_time(any_transfer_time(bytes, rate));
}

/// f(), where a TimeOverflow becomes the UserError of what() and the remedy.
template <typename F, typename What>
decltype(auto) in_time(F&& f, What&& what, const char* remedy) {
  try {
    return f();
  } catch (const TimeOverflow& e) {
    throw e.of(what(), remedy);
  }
}

}  // namespace weft

#endif
