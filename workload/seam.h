// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The seam between the workload (traces, graph, collectives; no SystemC) and the hardware models. Everything
// a collective engine or an execution engine needs from the machine is in Nmu and Npu's interfaces below;
// everything the machine tells it back is in the two sinks. Tests implement the service side with a fake
// port.

#ifndef WEFT_WORKLOAD_SEAM_H
#define WEFT_WORKLOAD_SEAM_H

#include <cstdint>

#include "configs/types.h"

namespace weft {

/// Identifies a message between its sender's plan and its receiver's, across ranks.
/// Collectives: `stream` is the collective instance, `chunk`, `phase`, `round` its place in the plan.
/// Point to point: kind = point_to_point, `stream` is the send's ordinal in its (source, destination, tag)
/// sequence and `round` the tag.
/// Of a communication library's program: kind = program, `stream` is the collective instance, `chunk` the
/// channel and `round` the message's number in its program. The latencies of links are in the program's costs
/// already: such a message does not pay them.
struct MessageId {
  enum class Kind : uint8_t { collective, point_to_point, program };
  uint32_t stream = 0;
  uint16_t chunk = 0;
  uint8_t phase = 0;
  Kind kind = Kind::collective;
  uint32_t round = 0;
};

enum class ElementType : uint8_t { byte, fp32, bf16, int32 };
enum class ReduceOp : uint8_t { none, sum, max, min };

/// No data travels with the message.
constexpr uint32_t kNoData = 0;

/// Message::peer, and the source of completions, of the collective unit in the switch that joins the sender's
/// line of dimension d: kUnitPeer | d. MessageId::round is then the block's slot (UnitLayout).
constexpr uint32_t kUnitPeer = 1u << 31;

/// One message, as a plan submits it to its NMU.
struct Message {
  NpuId peer{};  ///< destination rank, or kUnitPeer
  MessageId id;
  uint64_t bytes = 0;  ///< may be 0 (a token still crosses the fabric)
  ElementType type = ElementType::byte;
  ReduceOp op = ReduceOp::none;  ///< what the receiver does with it; != none charges the reduction cost
  bool symmetric =
      false;  ///< every rank of the dimension sends the like at the same time (a whole-line collective)
  bool reverse = false;     ///< Ring: prefer the descending direction when both are as short
  uint32_t data = kNoData;  ///< handle of the carried elements
};

/// Where a message's time went, in picoseconds. The five add up to completed - submitted.
struct TimeSplit {
  Picoseconds queue = 0;
  Picoseconds serialise = 0;
  Picoseconds latency = 0;
  Picoseconds endpoint = 0;
  Picoseconds reduce = 0;
};

/// The same, summed over many messages: more than 64 bits hold, where these wait long.
struct TimeSums {
  Wide queue = 0;
  Wide serialise = 0;
  Wide latency = 0;
  Wide endpoint = 0;
  Wide reduce = 0;

  void add(const TimeSums& split) {
    queue += split.queue;
    serialise += split.serialise;
    latency += split.latency;
    endpoint += split.endpoint;
    reduce += split.reduce;
  }
};

/// TimeSums as they are summed up: the upper halves, which change almost never, apart.
class RunningSums {
 public:
  void add(const TimeSplit& split) {
    add(0, split.queue);
    add(1, split.serialise);
    add(2, split.latency);
    add(3, split.endpoint);
    add(4, split.reduce);
  }
  TimeSums sums() const { return {sum(0), sum(1), sum(2), sum(3), sum(4)}; }

 private:
  void add(uint32_t part, Picoseconds time) {
    if (__builtin_add_overflow(low_[part], time, &low_[part])) ++high_[part];
  }
  Wide sum(uint32_t part) const { return static_cast<Wide>(high_[part]) << 64 | low_[part]; }

  uint64_t low_[5] = {};
  uint32_t high_[5] = {};
};

/// Delivered to the receiver when the message is there, its endpoint delay is over and its reduction is done.
struct Completion {
  MessageId id;
  NpuId source{};
  uint64_t bytes = 0;
  TimeSplit split;
  uint32_t data = kNoData;
  Picoseconds submitted = 0;
};

/// What a plan gets back from its NMU.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  virtual void completed(const Completion& completion) = 0;
  /// A time asked for by schedule() has come.
  virtual void wake(uint32_t token) = 0;
  /// All completions, injections and wakes of this instant are in: decisions that must not depend on their
  /// order are taken here.
  virtual void settled() = 0;
};

/// What a plan may ask of its NMU.
class MessagePort {
 public:
  virtual ~MessagePort() = default;
  virtual Picoseconds now() const = 0;
  virtual void submit(const Message& message) = 0;
  /// wake(token) at the absolute time `at` (>= now).
  virtual void schedule(Picoseconds at, uint32_t token) = 0;
};

}  // namespace weft

#endif
