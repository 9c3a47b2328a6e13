// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Hears of what goes on in the machine as it becomes known: nodes, collectives and their phases, messages and
// what carries them. Models that keep a causal log (causal_log.h) tell its listener besides.

#ifndef WEFT_INSIGHT_ACTIVITY_LISTENER_H
#define WEFT_INSIGHT_ACTIVITY_LISTENER_H

#include <cstdint>
#include <string_view>

#include "configs/types.h"

namespace weft::insight {

enum class NodeKind : uint8_t { compute, local_memory, remote_memory, communication };

/// ActivityListener::Crossing::what of flits, which are not told apart, and of what no NMU has sent.
constexpr uint32_t kFlits = 0;
constexpr uint32_t kOtherTraffic = ~uint32_t{0} - 1;

/// Times are the machine's, in picoseconds. What has begun ends later, or not at all if the run ends before.
class ActivityListener {
 public:
  virtual ~ActivityListener() = default;

  /// False: crossed() and entered() are for nobody, and links need not tell. Asked when the machine is built.
  virtual bool wants_links() const { return true; }

  // Nodes of traces that take time.
  struct Node {
    uint32_t npu = 0;
    uint32_t index = 0;  ///< in the rank's trace
    uint64_t id = 0;     ///< Chakra's
    std::string_view name;
    NodeKind kind = NodeKind::compute;
    uint64_t bytes = 0;  ///< that it moves
    Picoseconds at = 0;
  };
  virtual void node_began(const Node& node) = 0;
  virtual void node_ended(uint32_t npu, uint32_t index, Picoseconds at) = 0;

  // An NPU's part of a collective, and one phase of one of its chunks.
  struct Part {
    uint32_t npu = 0;
    uint32_t stream = 0;  ///< number of the collective in the machine
    const char* operation = "";
    uint64_t bytes = 0;  ///< CollectiveRequest::bytes
    Picoseconds at = 0;
  };
  virtual void collective_began(const Part& part) = 0;
  virtual void collective_ended(uint32_t npu, uint32_t stream, Picoseconds at) = 0;
  struct Phase {
    uint32_t npu = 0;
    uint32_t stream = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    const char* operation = "";
    uint64_t bytes = 0;     ///< of the chunk
    Picoseconds ready = 0;  ///< it could have begun
    Picoseconds at = 0;
  };
  virtual void phase_began(const Phase& phase) = 0;
  virtual void phase_ended(const Phase& phase) = 0;

  // Messages, by the number of their packet in the pool. `what`: Activity::what of the causal log.
  /// A new message.
  virtual void submitted(uint32_t packet) = 0;
  /// It has a link, or a packet network's burst has it, from `begin` to `end`; told in the order of the link.
  struct Crossing {
    uint32_t link = 0;    ///< of the causal log
    uint32_t packet = 0;  ///< 0: not followed
    uint32_t what = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    uint64_t bytes = 0;
    Picoseconds ready = 0;  ///< it could have begun
    Picoseconds begin = 0;
    Picoseconds end = 0;
    Picoseconds busy = 0;  ///< as links.csv counts
  };
  virtual void crossed(const Crossing& crossing) = 0;
  /// It has gone into a packet network at `at`, from where it comes out now. `from`: NPU, or not one.
  virtual void entered(uint32_t packet, uint32_t what, uint32_t from, uint64_t bytes, Picoseconds at) = 0;
  /// It is there, has waited for the endpoint's delay and has been reduced.
  struct Delivery {
    uint32_t packet = 0;
    uint32_t what = 0;
    uint32_t npu = 0;
    uint32_t from = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    uint32_t round = 0;
    uint64_t bytes = 0;
    Picoseconds queued = 0;
    Picoseconds ready = 0;   ///< whole here
    Picoseconds reduce = 0;  ///< reduced since then
    Picoseconds end = 0;
  };
  virtual void delivered(const Delivery& delivery) = 0;
  /// A collective unit has taken it into a result.
  virtual void combined(uint32_t packet, uint32_t what, Picoseconds at) = 0;
};

}  // namespace weft::insight

#endif
