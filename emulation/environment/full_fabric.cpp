// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/full_fabric.h"

#include <utility>

namespace weft::emulation {

using sc_core::sc_time;

FullFabric::FullFabric(Machine& machine, AdvanceKernel advance)
    : machine_(machine), advance_(std::move(advance)) {
  machine.attach(*this);
}

FullFabric::~FullFabric() {
  machine_.detach();
}

Picoseconds FullFabric::next() const {
  if (sc_core::sc_pending_activity_at_current_time()) return now();
  if (!sc_core::sc_pending_activity()) return kNever;
  return now() + sc_core::sc_time_to_pending_activity().value();
}

void FullFabric::finish_instant() {
  do {
    advance_(sc_core::SC_ZERO_TIME);
  } while (sc_core::sc_pending_activity_at_current_time());
}

void FullFabric::run_to(Picoseconds t) {
  told_ = false;
  for (;;) {
    const Picoseconds at = next();
    if (at > t) {
      if (t > now()) advance_(sc_time::from_value(t - now()));
      return;
    }
    if (at > now()) advance_(sc_time::from_value(at - now()));
    finish_instant();
    if (told_) return;
  }
}

uint32_t FullFabric::begin(const Start& start) {
  const uint32_t stream = machine_.take_streams(1);
  Operation operation;
  operation.start = start;
  operation.left = start.plan->members();
  const uint32_t rule = machine_.fidelity().for_collective(start.plan->request().op, now());
  operation.plane = machine_.fidelity().plane_of(rule);
  operations_.emplace(stream, std::move(operation));
  return stream;
}

void FullFabric::join(uint32_t operation, uint32_t rank) {
  // The last member may finish within the call, which removes the entry.
  const Operation started = operations_.at(operation);
  machine_.nmu(rank).start_collective(operation, started.start.plan, started.start.priority, started.plane);
}

void FullFabric::send(uint32_t message, uint32_t source, uint32_t destination, uint64_t bytes) {
  machine_.nmu(source).send(NpuId{destination}, 0, message, bytes);
}

void FullFabric::collective_done(NpuId rank, const collectives::CollectiveDone& done) {
  const auto operation = operations_.find(done.stream);
  if (operation != operations_.end() && --operation->second.left == 0) operations_.erase(operation);
  told_ = true;
  listener_->operation_done(done.stream, index(rank), done);
}

void FullFabric::message_injected(NpuId, NpuId, const MessageId& id) {
  told_ = true;
  listener_->message_left(id.stream);
}

void FullFabric::message_arrived(NpuId, const Completion& completion) {
  told_ = true;
  listener_->message_there(completion.id.stream, completion);
}

}  // namespace weft::emulation
