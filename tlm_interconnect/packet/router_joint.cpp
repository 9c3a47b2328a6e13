// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What joint trains (joint_trains.h) ask of a router: who has packets here, and the state of several inputs
// and outputs together.

#include "tlm_interconnect/packet/router.h"

#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {

void Router::owners_at(uint32_t input, std::vector<PacketOwner>& owners, uint64_t& looked_at) const {
  waiting_packets_.for_each_owner(input, [&](const PacketOwner& owner) {
    ++looked_at;
    if (owners.empty() || !(owners.back() == owner)) owners.push_back(owner);
  });
}

bool Router::inputs_for(uint32_t output, std::vector<uint32_t>& inputs, uint64_t& looked_at) const {
  uint32_t missing = waiting_packets_.wanting(output);
  uint32_t p = 0;
  for (; p < ports() && missing != 0 && inputs.size() <= costs::kMostMembers; ++p) {
    const uint32_t found = waiting_packets_.wanting_from(p, output);
    if (found == 0) continue;
    inputs.push_back(p);
    missing -= found;
  }
  looked_at += p / 16;  // numbers that lie beside each other
  return missing == 0;
}

void Router::write_joint(const std::vector<JointInput>& inputs, const std::vector<uint32_t>& outputs,
                         StateRecord& state) {
  state.deadline(decided_);
  for (const JointInput& input : inputs) {
    if (state.differs()) return;
    write_joint_input(input, state);
  }
  for (const uint32_t output : outputs) {
    if (state.differs()) return;
    write_joint_output(output, state);
  }
}

// A queue may grow (write_queue()) where all its packets are of one message: the group's layout says whose.
void Router::write_joint_input(const JointInput& of, StateRecord& state) {
  const uint32_t input = of.input;
  const Port& port = ports_[input];
  state.deadline(port.input_busy);
  for (const VcMask mask : {port.va_mask, port.sa_mask, port.held_mask}) state.number(mask);
  state.number(port.vc_pointer);
  const VcMask late = of.alone ? late_since_record(input, false, state) : 0;
  for (uint32_t v = 0; v < vcs_ && !state.differs(); ++v) {
    const InputVc& in = inputs_[input * vcs_ + v];
    const bool may_grow = of.alone && ((late >> v) & 1) == 0;
    const bool stays = write_queue(in, {may_grow, waits(input, v, state.now()), !of.alone}, state);
    if (stays) {
      state.stays(in.ready);
    } else {
      state.deadline(in.ready);
    }
    state.deadline(in.free_at);
    state.number(in.last_next);
    if (in.last_next != 0) state.packet(in.last_packet);
    write_packet(in, state);
    if (in.packet != fabric::kNoPacket) {
      state.number(pool_[in.packet].id_high);
      if (stays) {
        state.stays(in.eligible);
      } else if (in.sent == 0) {
        state.time(in.eligible);
      }
    }
  }
  write_levels(input, state);
}

void Router::write_joint_output(uint32_t output, StateRecord& state) {
  const Port& port = ports_[output];
  state.deadline(port.output_busy + 2 * cycle_);  // a held burst looks back at it for a cycle
  state.number(port.last_input);
  state.time_or_stays(port.last_end);
  for (uint32_t v = 0; v < vcs_ && !state.differs(); ++v) {
    OutputVc& out = outputs_[output * vcs_ + v];
    out.credit.write(state);
    state.deadline(out.free_at);
    state.number((uint64_t{out.owner} << 1) | (out.draining ? 1u : 0u));
  }
  write_pauses(output, state);
}

// When an output passes from one input to another it matters when the other last had it.
void Router::write_turn(uint32_t input, uint32_t output, bool shared, StateRecord& state) const {
  state.number(switch_allocator_->memory(input, output));
  for (uint32_t v = 0; v < vcs_; ++v) {
    state.number(uint64_t{vc_allocator_->last_output(input * vcs_ + v)} << 32 |
                 vc_allocator_->last_input(output * vcs_ + v));
  }
  if (shared) state.time_or_stays(gone_[input * ports() + output]);
}

void Router::shift_input(const JointInput& of, const JointPeriods& passed, const StateRecord::Queue* queues) {
  const Ticks by = passed.number * passed.period;
  ports_[of.input].input_busy += by;
  for (uint32_t v = 0; v < vcs_; ++v) {
    shift_queue(of.input, of.output, v, queues[v], passed.period, passed.number);
  }
  shift_levels(of.input, by);
}

void Router::shift_output(uint32_t output, const JointPeriods& passed, const JointLoad& load,
                          const StateRecord::Credits* credits) {
  const Ticks by = passed.number * passed.period;
  Port& port = ports_[output];
  packets_ += load.packets;
  port.output_busy += by;
  port.flits += load.flits;
  port.packets += load.packets;
  port.payload += load.bytes;
  port.queued += load.queued;
  if (load.packets != 0) port.last_end += by;
  port.all_free += by;
  for (uint32_t v = 0; v < vcs_; ++v) {
    OutputVc& out = outputs_[output * vcs_ + v];
    out.credit.shift(credits[v], passed.period, passed.number);
    out.free_at += by;
  }
}

}  // namespace weft::packet
