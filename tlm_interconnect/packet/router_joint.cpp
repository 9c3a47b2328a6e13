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

bool Router::has_at(uint32_t input, const PacketOwner& owner) const {
  bool found = false;
  waiting_packets_.for_each_owner(input, [&](const PacketOwner& one) { found = found || one == owner; });
  return found;
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
  const bool may_drift = of.alone || of.in_turn;
  const VcMask late = may_drift ? late_since_record(input, false, state) : 0;
  for (uint32_t v = 0; v < vcs_ && !state.differs(); ++v) {
    const InputVc& in = inputs_[input * vcs_ + v];
    const bool is_late = ((late >> v) & 1) != 0;
    const bool passes_on = of.in_turn && this->passes_on(of, v);
    if (of.in_turn) {
      const WaitingPackets::Line line = waiting_packets_.line(input, v);
      state.number(uint64_t{line.first.message} << 32 | line.last.message);
      state.number(line.owners << 1 | (passes_on ? 1u : 0u));
    }
    bool stays = false;
    if (passes_on) {
      write_passing_on(of, v, is_late, state);
    } else {
      stays = write_queue(in, {may_drift && !is_late, waits(input, v, state.now()), !may_drift}, state);
    }
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
      // For how long it has waited for an output that others had may be counted from its arrival: turn_to(),
      // allocate_vcs().
      if (in.queue.empty() || runs_of_complete(in, 0, state.now()) == 0) continue;
      const FlitRun& run = in.queue.front();
      const uint32_t output = in.routed ? in.out_port : of.in_turn ? way_of(input, v, in.packet) : of.output;
      const Port& out = ports_[output];
      const Ticks gone = out.last_input == input ? out.last_end : gone_[input * ports() + output];
      const bool counts = in.sent != 0 ? run.first > gone : run.stride > out.flit_time;
      state.number(counts ? 1 : 0);
      if (counts) state.time(run.first);
    }
  }
  write_levels(input, state);
}

// Packets of one message leave, and those of another one come behind them; or none come any more.
bool Router::passes_on(const JointInput& of, uint32_t v) const {
  const uint32_t owners = waiting_packets_.line(of.input, v).owners;
  return owners > 1 || (owners == 1 && ((of.fed >> v) & 1) == 0);
}

// As long as all packets have come before their turn nobody looks at when, in how many pieces, nor whose they
// are but the first one's. So those that are complete are only counted. They may be fewer of the first
// message and more of the last one, until two of the first are left.
void Router::write_passing_on(const JointInput& of, uint32_t v, bool late, StateRecord& state) const {
  const InputVc& in = inputs_[of.input * vcs_ + v];
  const WaitingPackets::Line line = waiting_packets_.line(of.input, v);
  const uint32_t size = in.queue.size();
  uint32_t complete = 0;
  uint32_t runs = 0;
  while (runs < size) {
    const uint32_t more = runs_of_complete(in, runs, state.now());
    if (more == 0) break;
    ++complete;
    runs += more;
  }
  state.looked_at(runs / 4);
  if (state.records()) {
    for (const uint32_t n : {complete, line.of_first}) state.number(n);
  } else {
    const auto complete_before = static_cast<uint32_t>(state.earlier_word());
    const auto first_before = static_cast<uint32_t>(state.earlier_word());
    const uint32_t out = first_before - line.of_first;
    const uint32_t come = complete + out - complete_before;
    const uint32_t before_last = line.packets - line.of_last;
    const bool fed = ((of.fed >> v) & 1) != 0;
    const bool counted = first_before >= line.of_first && complete + out >= complete_before &&
                         (fed ? complete >= complete_before : runs == size);
    const bool models = line.of_first >= 2 && complete_before >= 2 && complete >= 2 &&
                        (come == 0 || (line.owners > 1 && complete > before_last));
    if (late || !counted || !models) {
      state.differ();
      return;
    }
    state.passed_on(come, out, runs);
    if (out != 0) state.repeats_at_most((line.of_first - 2) / out);
  }
  state.number(size - runs);
  for (uint32_t k = runs; k < size && !state.differs(); ++k) {
    state.time(in.queue[k].first);
    write_run(in.queue[k], false, state);
  }
}

// So many times some more of the first message have left, and of the last one have come.
void Router::pass_on(uint32_t input, uint32_t v, const StateRecord::Queue& queue, uint64_t periods) {
  InputVc& in = inputs_[input * vcs_ + v];
  const auto out = static_cast<uint32_t>(periods * queue.out);
  const auto come = static_cast<uint32_t>(periods * queue.grown);
  uint32_t gone = 0;  // runs
  if (out != 0) {
    in.pending -= out * in.queue.front().packet_flits;
    const fabric::PacketRef front = in.queue.front().packet;
    waiting_packets_.want(input, way_of(input, v, front), -static_cast<int32_t>(out));
    waiting_packets_.leave(input, v, out);
    uint32_t kept = 0;
    while (in.queue[kept].packet == front) ++kept;
    fabric::PacketRef last = front;
    uint32_t left = out;
    for (uint32_t k = kept;; ++k, ++gone) {
      if (in.queue[k].packet == last) continue;
      if (left-- == 0) break;
      last = in.queue[k].packet;
      pool_.release(last);
    }
    for (uint32_t k = kept; k-- > 0;) in.queue[k + gone] = in.queue[k];
    for (uint32_t k = 0; k < gone; ++k) in.queue.pop_front();
  }
  if (come == 0) return;
  const uint32_t place = queue.place - gone;
  FlitRun model = in.queue[place - 1];
  model.first -= static_cast<Ticks>(model.packet_flits - model.flits) * model.stride;  // in one run
  model.flits = model.packet_flits;
  put_in(input, v, place, model, come);
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
    shift_queue(of.input, v, queues[v], passed.period, passed.number);
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
