// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The state of an input and an output of a router, written on a tape and brought back (known_start.h).

#include <algorithm>

#include "tlm_interconnect/packet/router.h"

namespace weft::packet {
namespace {

void move_mask(StateTape& tape, const VcNames& names, VcMask& mask) {
  VcMask places = names.places(mask);
  tape.number(places);
  mask = names.vcs(places);
}

void move_vc(StateTape& tape, const VcNames& names, uint32_t& vc) {
  uint32_t place = names.place(vc);
  tape.number(place);
  vc = names.vc(place);
}

}  // namespace

void Router::move_state(uint32_t input, uint32_t output, const VcNames& from, const VcNames& to,
                        StateTape& tape) {
  Port& in_port = ports_[input];
  Port& out_port = ports_[output];
  bool passed = out_port.last_input == input;
  tape.number(passed);
  if (tape.reads() && passed) pass_output_to(input, output);
  tape.time(in_port.input_busy);
  move_mask(tape, from, in_port.va_mask);
  move_mask(tape, from, in_port.sa_mask);
  move_mask(tape, from, in_port.held_mask);
  uint32_t last = (in_port.vc_pointer == 0 ? vcs_ : in_port.vc_pointer) - 1;
  move_vc(tape, from, last);
  in_port.vc_pointer = last + 1 == vcs_ ? 0 : last + 1;
  tape.time(out_port.output_busy);
  Ticks last_end = out_port.last_end;
  tape.time(last_end);
  if (passed) out_port.last_end = last_end;
  Ticks all_free = out_port.all_free;
  tape.time(all_free);
  out_port.all_free = std::max(out_port.all_free, all_free);
  move_mask(tape, to, out_port.owned);
  for (uint32_t place = 0; place < vcs_; ++place) {
    if (from.has(place)) move_input(input, output, from.vc(place), to, tape);
  }
  for (uint32_t place = 0; place < vcs_; ++place) {
    if (to.has(place)) move_output(input, output, to.vc(place), from, tape);
  }
  for (uint32_t v = 0; tape.reads() && v < vcs_; ++v) {
    for_each_packet(inputs_[input * vcs_ + v],
                    [&](fabric::PacketRef packet) { count_come(input, v, packet); });
  }
}

void Router::move_input(uint32_t input, uint32_t output, uint32_t v, const VcNames& to, StateTape& tape) {
  InputVc& in = inputs_[input * vcs_ + v];
  uint32_t runs = in.queue.size();
  tape.number(runs);
  for (uint32_t k = 0; k < runs; ++k) {
    if (tape.reads()) in.queue.push_back(FlitRun{});
    FlitRun& run = in.queue[k];
    tape.time(run.first);
    tape.packet(run.packet);
    tape.number(run.flits);
    tape.number(run.packet_flits);
    tape.number(run.stride);
  }
  for (Ticks* t : {&in.ready, &in.free_at, &in.eligible}) tape.time(*t);
  tape.packet(in.packet);
  tape.number(in.last_next);
  if (in.last_next != 0) tape.packet(in.last_packet);
  for (uint32_t* n : {&in.packet_flits, &in.sent, &in.pending, &in.virtual_network}) tape.number(*n);
  for (bool* flag : {&in.routed, &in.bubble, &in.last}) tape.number(*flag);
  tape.number(in.out_mask);
  move_vc(tape, to, in.out_vc);
  uint32_t last = vc_allocator_->last_output(input * vcs_ + v);
  bool taken = last / vcs_ == output;
  last %= vcs_;
  tape.number(taken);
  move_vc(tape, to, last);
  if (!tape.reads()) return;
  in.out_port = output;
  in.closed_until = 0;
  in.drawn = in.overrun = false;
  if (taken) vc_allocator_->set_last_output(input * vcs_ + v, output * vcs_ + last);
}

void Router::move_output(uint32_t input, uint32_t output, uint32_t u, const VcNames& from, StateTape& tape) {
  OutputVc& out = outputs_[output * vcs_ + u];
  out.credit.move(tape);
  tape.time(out.free_at);
  tape.number(out.draining);
  tape.number(out.watched);
  bool owned = out.owner != kFree;
  tape.number(owned);
  uint32_t owner = owned ? out.owner % vcs_ : 0;
  move_vc(tape, from, owner);
  uint32_t last = vc_allocator_->last_input(output * vcs_ + u);
  bool taken = last / vcs_ == input;
  last %= vcs_;
  tape.number(taken);
  move_vc(tape, from, last);
  if (!tape.reads()) return;
  out.owner = owned ? input * vcs_ + owner : kFree;
  if (taken) vc_allocator_->set_last_input(output * vcs_ + u, input * vcs_ + last);
}

// As if it had been granted to the input, which nobody else had asked for.
void Router::pass_output_to(uint32_t input, uint32_t output) {
  Port& port = ports_[output];
  if (port.last_input != input) {
    if (port.last_input != kFree) gone_[port.last_input * ports_.size() + output] = port.last_end;
    port.last_input = input;
  }
  requests_.add(input, output, 0);
  grants_.clear();
  switch_allocator_->allocate(requests_, grants_);
  requests_.clear();
  ++openings_;
  ++port.openings;
}

void Router::clear(uint32_t input, uint32_t output, std::vector<fabric::PacketRef>& packets) {
  waiting_packets_.clear(input, output);
  for (uint32_t v = 0; v < vcs_; ++v) {
    InputVc& in = inputs_[input * vcs_ + v];
    for_each_packet(in, [&](fabric::PacketRef packet) { packets.push_back(packet); });
    in.queue.clear();
    in.packet = fabric::kNoPacket;
  }
}

OutputLoad Router::load(uint32_t output) const {
  const Port& port = ports_[output];
  return {port.packets, port.flits, port.payload, port.messages};
}

}  // namespace weft::packet
