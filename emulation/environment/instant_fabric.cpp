// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/instant_fabric.h"

#include <algorithm>
#include <utility>

namespace weft::emulation {

void InstantFabric::run_to(Picoseconds t) {
  if (due_.empty()) {
    now_ = std::max(now_, t);
    return;
  }
  // What a listener does may add more, which is due in the next step.
  std::deque<std::function<void()>> due;
  due.swap(due_);
  for (const std::function<void()>& tell : due) tell();
}

uint32_t InstantFabric::begin(const Start& start) {
  const uint32_t number = next_operation_++;
  operations_[number].members = start.plan->members();
  return number;
}

void InstantFabric::join(uint32_t number, uint32_t rank) {
  Operation& operation = operations_.at(number);
  operation.joined.push_back(rank);
  if (operation.joined.size() < operation.members) return;
  for (const uint32_t member : operation.joined)
    due_.push_back([this, number, member] {
      collectives::CollectiveDone done;
      done.stream = number;
      listener_->operation_done(number, member, done);
    });
  operations_.erase(number);
}

void InstantFabric::send(uint32_t message, uint32_t source, uint32_t, uint64_t bytes) {
  due_.push_back([this, message] { listener_->message_left(message); });
  due_.push_back([this, message, source, bytes] {
    Completion completion;
    completion.source = NpuId{source};
    completion.bytes = bytes;
    listener_->message_there(message, completion);
  });
}

}  // namespace weft::emulation
