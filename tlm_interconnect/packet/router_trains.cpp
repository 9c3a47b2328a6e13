// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What packet trains (packet_trains.h) ask of a router: whose its packets are, its state, and cycles run
// again.

#include "tlm_interconnect/packet/router.h"

#include <algorithm>
#include <utility>

#include "tlm_interconnect/packet/known_start.h"
#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {

// Packets of a message follow each other.
uint32_t Router::way_of(uint32_t p, uint32_t v, fabric::PacketRef ref) {
  const LastWay& last = last_ways_[p * vcs_ + v];
  const fabric::Packet& packet = pool_[ref];
  if (packet.source == last.source && packet.destination == last.destination) return last.output;
  return find_way(p, v, ref);
}

uint32_t Router::find_way(uint32_t p, uint32_t v, fabric::PacketRef ref) {
  const fabric::Packet& packet = pool_[ref];
  const KnownWay* way = known_way(query_of(p, v, ref));
  if (way == nullptr) return kFree;
  last_ways_[p * vcs_ + v] = {packet.source, packet.destination, way->output};
  return way->output;
}

PacketOwner Router::owner_of(fabric::PacketRef ref) const {
  const fabric::Packet& packet = pool_[ref];
  return {static_cast<uint32_t>(packet.interface), static_cast<uint32_t>(packet.id_high)};
}

uint32_t Router::count_ways(uint32_t p, uint32_t v, fabric::PacketRef packet, int32_t change) {
  const uint32_t output = way_of(p, v, packet);
  if (output != kFree) {
    waiting_packets_.want(p, output, change);
  } else {
    for (const RouteCandidate& candidate : candidates_) waiting_packets_.may_want(candidate.port, change);
  }
  return output;
}

uint32_t Router::count_come(uint32_t p, uint32_t v, fabric::PacketRef packet, uint32_t packets) {
  waiting_packets_.come(p, v, owner_of(packet), packets);
  return count_ways(p, v, packet, static_cast<int32_t>(packets));
}

bool Router::count_waiting(uint64_t& looked_at) {
  if (routing_.adaptive()) return false;
  if (!waiting_packets_.counting()) {
    waiting_packets_.begin(ports(), vcs_);
    last_ways_.resize(inputs_.size());
    uint64_t here = 0;
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      const uint32_t p = i / vcs_;
      const uint32_t v = i % vcs_;
      here += for_each_packet(inputs_[i], [&](fabric::PacketRef packet) { count_come(p, v, packet); });
    }
    looked_at += here;
    counts_for_ = std::max(costs::kCountsFor, costs::kCountsForEach * here);
  }
  counts_until_ = packets_ + counts_for_;
  return true;
}

void Router::keep_counting() {
  uint64_t looked_at = 0;
  count_waiting(looked_at);
}

// Whoever looks for trains has not asked for long, and none needs the counts.
void Router::stop_counting() {
  if (reserved_ == 0 && steps_.empty() && expected_.empty()) {
    waiting_packets_.end();
  } else {
    counts_until_ = packets_ + counts_for_;
  }
}

bool Router::idle(uint32_t input, uint32_t output) {
  keep_counting();
  return waiting_packets_.wanting(output) == 0 && waiting_packets_.at(input) == 0;
}

bool Router::keeps(uint32_t input, uint32_t output) {
  keep_counting();
  const uint32_t own = waiting_packets_.at(input);
  return waiting_packets_.wanting(output) == own && (own == 0 || had_last(input, output));
}

bool Router::pauses(uint32_t input, uint32_t output) const {
  return ports_[input].pauses != 0 || ports_[output].paused_by != 0;
}

bool Router::exclusive(uint32_t input, uint32_t output, uint32_t message) {
  keep_counting();
  return waiting_packets_.wanting(output) == waiting_packets_.at(input) &&
         waiting_packets_.only(input, message);
}

void Router::reserve_input(uint32_t input, uint32_t interface) {
  if (reserved_inputs_.empty()) reserved_inputs_.assign(ports_.size(), kFree);
  reserved_inputs_[input] = interface;
}

void Router::reserve_output(uint32_t output, uint32_t interface) {
  if (reserved_outputs_.empty()) reserved_outputs_.assign(ports_.size(), kFree);
  reserved_outputs_[output] = interface;
  ++reserved_;
}

void Router::release_output(uint32_t output) {
  reserved_outputs_[output] = kFree;
  --reserved_;
}

// A head that wants an output on which a train is, or is about to be: it cannot be decided before its
// arrival, and the train is resumed before that.
void Router::head_announced(uint32_t p, uint32_t v, fabric::PacketRef packet) {
  const uint32_t output = count_come(p, v, packet);
  if (reserved_ == 0) return;
  const auto wanted = [&](uint32_t wanted_output) {
    const uint32_t rank = reserved_outputs_[wanted_output];
    if (rank == reserved_input(p)) return;  // nobody's, or the train's own
    if (rank != kFree && trains_->disturb(rank)) disturbed_.push_back(rank);
  };
  if (output != kFree) {
    wanted(output);
    return;
  }
  for (const RouteCandidate& candidate : candidates_) wanted(candidate.port);
}

void Router::expect(Ticks t, uint32_t interface) {
  const Ticks cycle = on_cycle(t);
  expected_.push_back({cycle, interface});
  expects_ = std::min(expects_, cycle);
  wake_and_notify(cycle);
}

void Router::expect_no_more(uint32_t interface) {
  expects_ = kNever;
  for (size_t k = 0; k < expected_.size();) {
    if (expected_[k].interface == interface) {
      expected_[k] = expected_.back();
      expected_.pop_back();
    } else {
      expects_ = std::min(expects_, expected_[k++].cycle);
    }
  }
}

void Router::meet_expected(Ticks now) {
  // One may resume another that is expected in this cycle, too.
  while (expects_ <= now) {
    const auto one = std::find_if(expected_.begin(), expected_.end(),
                                  [&](const Expected& expected) { return expected.cycle <= now; });
    const uint32_t interface = one->interface;
    expect_no_more(interface);
    trains_->take_part(interface);
  }
}

// It takes the first VC that is free after the one which its own VC took last; no other packet asks.
uint32_t Router::next_vc(uint32_t input, uint32_t output, uint32_t v, const VcNames& from, Ticks t) const {
  const uint32_t last = vc_allocator_->last_output(input * vcs_ + v);
  const VcNames to = from.unturned();
  const bool known = last / vcs_ == output && to.has(last % vcs_);
  uint32_t u = known ? to.after(last % vcs_) : to.first_vc();
  for (uint32_t n = 0; n < vcs_; ++n, u = to.after(u)) {
    const OutputVc& out = outputs_[output * vcs_ + u];
    if (out.owner == kFree && out.free_at <= t) return u;
  }
  return kNoVc;
}

// A VC of the input is taken by the first packet, or by a later one. What of the output is not free when the
// first one wants it is so when the next one does. Which VC of the input has its turn at the crossbar does
// not matter: the first packet is alone there. Where it takes another VC than the next one, because that one
// is not free yet, it is as if its own VC had taken the one before that.
bool Router::quiet(uint32_t input, uint32_t output, const Coming& coming, std::vector<VcNames>& names,
                   uint32_t& vc, QuietHop& hop) const {
  const VcNames from = names.back();
  const uint32_t first = vc;
  const Port& in_port = ports_[input];
  const Ticks asks_for_vc = on_cycle(coming.first) + route_time_;
  const Ticks asks_for_switch = asks_for_vc + vc_alloc_time_;
  const uint32_t takes = next_vc(input, output, first, from, asks_for_vc);
  const bool next = takes == next_vc(input, output, first, from, kNever);
  if (takes == kNoVc || (!next && !coming.exact) || in_port.input_busy > asks_for_switch ||
      ports_[output].output_busy > asks_for_switch || (in_port.sa_mask | in_port.held_mask) != 0 ||
      (in_port.va_mask != 0 && !coming.announced))
    return false;
  const auto last_of = [&](uint32_t v) {
    return v == first && !next ? output * vcs_ + from.before(takes)
                               : vc_allocator_->last_output(input * vcs_ + v);
  };
  const VcNames to = names_after(last_of(from.first_vc()), output, from);
  for (uint32_t place = 0; place < vcs_; ++place) {
    if (!from.has(place)) continue;
    const uint32_t v = from.vc(place);
    const InputVc& in = inputs_[input * vcs_ + v];
    if (!coming.announced && (!in.queue.empty() || in.packet != fabric::kNoPacket || in.last_next != 0))
      return false;
    if (in.free_at > coming.first + (v == first ? 0 : coming.packet)) return false;
    hop.taken.push_back(word_of(last_of(v), output, to));
    const uint32_t u = to.vc(place);
    const OutputVc& out = outputs_[output * vcs_ + u];
    if (out.owner != kFree || out.draining || out.watched) return false;
    if (out.free_at > asks_for_vc + (u == takes ? 0 : coming.packet)) return false;
    hop.given.push_back(word_of(vc_allocator_->last_input(output * vcs_ + u), input, from));
  }
  names.push_back(to);
  vc = takes;
  return true;
}

uint32_t Router::complete_packets(const InputVc& in, Ticks t) const {
  uint32_t n = 0;
  while (n < in.queue.size()) {
    const FlitRun& run = in.queue[n];
    const uint32_t left = n == 0 ? in.packet_flits - in.sent : run.packet_flits;
    if (run.flits != left || !came_before(run, t)) break;
    ++n;
  }
  return n;
}

uint32_t Router::runs_of_complete(const InputVc& in, uint32_t run, Ticks t) const {
  const fabric::PacketRef packet = in.queue[run].packet;
  uint32_t missing = in.queue[run].packet_flits - (run == 0 ? in.sent : 0);
  for (uint32_t k = run; k < in.queue.size() && in.queue[k].packet == packet; ++k) {
    if (!came_before(in.queue[k], t)) return 0;
    missing -= in.queue[k].flits;
    if (missing == 0) return k + 1 - run;
  }
  return 0;
}

// When a packet came that is here entirely does not matter: nobody looks at that any more. So of those only
// the number is compared, and whose they are where they are of several messages. As long as every packet
// comes before its turn they may have become more, too, if they are of one message. This goes on: the k-th
// packet from now on is at least as far ahead of its turn as the k-th one of the record was.
//
// A queue whose first flit has not come yet stays as it is, but that more is announced at its end: nobody
// looks at it before that flit comes. True: so it has been since the record.
bool Router::write_queue(const InputVc& in, QueueWrite as, StateRecord& state) const {
  const uint32_t size = in.queue.size();
  const uint32_t complete = complete_packets(in, state.now());
  state.looked_at(complete / 4);
  if (state.records()) {
    for (const uint32_t n : {complete, size}) state.number(n);
  } else {
    const uint64_t complete_before = state.earlier_word();
    const uint64_t size_before = state.earlier_word();
    if (as.may_grow && complete + complete_before == 0 && size >= size_before && size_before != 0 &&
        as.waits && state.stays_next(in.queue.front().first)) {
      write_what_stays(in, static_cast<uint32_t>(size_before), state);
      return true;
    }
    const bool grows = as.may_grow && complete_before >= 2 && complete > complete_before;
    if ((complete != complete_before && !grows) || size - complete != size_before - complete_before) {
      state.differ();
      return false;
    }
    state.grown(complete - static_cast<uint32_t>(complete_before), false);
  }
  for (uint32_t k = 0; as.with_message && k < complete; ++k) state.number(pool_[in.queue[k].packet].id_high);
  for (uint32_t k = complete; k < size && !state.differs(); ++k) {
    state.time(in.queue[k].first);
    write_run(in.queue[k], as.with_message, state);
  }
  return false;
}

// All but its time. A packet of which all flits are here is in no other place that may be compared with this
// one; as the front of the queue it is told by write_packet().
void Router::write_run(const FlitRun& run, bool with_message, StateRecord& state) const {
  state.number((uint64_t{run.flits} << 32) | run.packet_flits);
  state.number(run.stride);
  if (run.flits != run.packet_flits) state.packet(run.packet);
  if (with_message) state.number(pool_[run.packet].id_high);
}

void Router::write_what_stays(const InputVc& in, uint32_t size_before, StateRecord& state) const {
  for (uint32_t k = 0; k < size_before && !state.differs(); ++k) {
    const FlitRun& run = in.queue[k];
    state.stays(run.first);
    write_run(run, false, state);
  }
  const uint32_t size = in.queue.size();
  for (uint32_t k = size_before; k < size; ++k) {
    if (in.queue[k].flits != in.queue[k].packet_flits) state.differ();
  }
  if (in.last_next != 0) state.differ();
  state.grown(size - size_before, true);
  state.stays_until(in.queue.front().first);
}

bool Router::waits(uint32_t input, uint32_t v, Ticks now) const {
  const InputVc& in = inputs_[input * vcs_ + v];
  return ((ports_[input].va_mask >> v) & 1) != 0 && in.sent == 0 && !in.queue.empty() &&
         in.queue.front().first > now && in.ready > now;
}

fabric::PacketRef Router::copy_of(fabric::PacketRef packet) {
  const fabric::PacketRef ref = pool_.acquire();
  pool_[ref] = pool_[packet];
  pool_[ref].references = 1;
  return ref;
}

// What has been announced since the record is announced again, period by period.
void Router::announce(uint32_t input, uint32_t v, uint32_t packets, Ticks period, uint64_t periods) {
  InputVc& in = inputs_[input * vcs_ + v];
  const uint32_t from = in.queue.size() - packets;
  for (uint64_t k = 1; k <= periods; ++k) {
    for (uint32_t i = from; i < from + packets; ++i) {
      FlitRun run = in.queue[i];
      run.packet = copy_of(run.packet);
      run.first += k * period;
      in.queue.push_back(run);
      in.pending += run.flits;
    }
  }
  const auto more = static_cast<uint32_t>(periods) * packets;
  if (more != 0) count_come(input, v, in.queue.back().packet, more);
}

void Router::put_in(uint32_t input, uint32_t v, uint32_t place, FlitRun model, uint32_t packets) {
  InputVc& in = inputs_[input * vcs_ + v];
  in.queue.insert(place, packets, model);
  for (uint32_t k = place; k < place + packets; ++k) in.queue[k].packet = copy_of(model.packet);
  in.pending += packets * model.packet_flits;
  count_come(input, v, model.packet, packets);
}

/// A mask and a number of up to 32 bits, in one word where the mask has no more.
static void write_mask(StateRecord& state, uint32_t vcs, VcMask mask, uint32_t number) {
  if (vcs <= 32) return state.number(mask << 32 | number);
  state.number(mask);
  state.number(number);
}

void Router::write_packet(const InputVc& in, StateRecord& state) const {
  write_packet(in, in.out_port, VcNames::own(), state);
}

void Router::write_packet(const InputVc& in, uint32_t output, const VcNames& to, StateRecord& state) const {
  state.number(in.packet != fabric::kNoPacket ? 1 : 0);
  if (in.packet == fabric::kNoPacket) return;
  state.packet(in.packet);
  state.number((uint64_t{in.packet_flits} << 32) | in.sent);
  state.number((uint64_t{in.out_port} << 32) | (in.out_port == output ? to.word(in.out_vc) : to.elsewhere()));
  write_mask(
      state, vcs_, to.places(in.out_mask),
      (in.virtual_network << 3) | (in.overrun ? 4u : 0u) | (in.routed ? 2u : 0u) | (in.bubble ? 1u : 0u));
}

VcNames Router::names(uint32_t input, uint32_t output, const VcNames& from, bool turn) const {
  return turn ? names_after(vc_allocator_->last_output(input * vcs_ + from.first_vc()), output, from)
              : from.unturned();
}

VcNames Router::names_after(uint32_t last, uint32_t output, const VcNames& from) const {
  const bool known = last / vcs_ == output && from.has(last % vcs_);
  return known ? from.beginning_with(last % vcs_) : from.unturned();
}

uint64_t Router::word_of(uint32_t vc, uint32_t port, const VcNames& names) const {
  return vc / vcs_ == port ? names.word(vc % vcs_) : names.elsewhere();
}

void Router::write_state(uint32_t input, uint32_t output, const VcNames& from, const VcNames& to, bool turned,
                         bool counts, StateRecord& state) {
  const Port& in_port = ports_[input];
  state.deadline(in_port.input_busy);
  write_mask(state, vcs_, from.places(in_port.va_mask), static_cast<uint32_t>(from.places(in_port.sa_mask)));
  if (vcs_ > 32) state.number(from.places(in_port.sa_mask));
  // The one before the pointer had its turn last.
  const uint32_t last = (in_port.vc_pointer == 0 ? vcs_ : in_port.vc_pointer) - 1;
  write_mask(state, vcs_, from.places(in_port.held_mask), static_cast<uint32_t>(from.word(last)));
  // A held burst looks back at it for a cycle.
  state.deadline(ports_[output].output_busy + 2 * cycle_);
  const VcMask late = counts ? late_since_record(input, turned, state) : 0;
  for (uint32_t place = 0; place < vcs_ && !state.differs(); ++place) {
    const uint32_t v = from.vc(place);
    const InputVc& in = inputs_[input * vcs_ + v];
    if (write_queue(in, {((late >> v) & 1) == 0, waits(input, v, state.now()), false}, state)) {
      state.stays(in.ready);
    } else {
      state.deadline(in.ready);
    }
    state.deadline(in.free_at);
    state.number(in.last_next);
    if (in.last_next != 0) state.packet(in.last_packet);
    write_packet(in, output, to, state);
    state.number(word_of(vc_allocator_->last_output(input * vcs_ + v), output, to));

    const uint32_t u = to.vc(place);
    OutputVc& out = outputs_[output * vcs_ + u];
    out.credit.write(state);
    state.deadline(out.free_at);
    state.number(out.owner == kFree ? 0 : 1);
    if (out.owner != kFree) state.number(word_of(out.owner, input, from));
    state.number(word_of(vc_allocator_->last_input(output * vcs_ + u), input, from) << 1 |
                 (out.draining ? 1u : 0u));
  }
  write_levels(input, state);
  write_pauses(output, state);
}

// VCs with packets that have come late since the record; all, if they have turned and there are any.
VcMask Router::late_since_record(uint32_t input, bool turned, StateRecord& state) const {
  VcMask late = 0;
  for (uint32_t v = 0; v < vcs_; ++v) {
    const uint32_t n = inputs_[input * vcs_ + v].late;
    if (state.records()) {
      state.number(n);
    } else if (state.earlier_word() != n) {
      late |= vc_bit(v);
    }
  }
  return turned && late != 0 ? low_vcs(vcs_) : late;
}

void Router::write_levels(uint32_t input, StateRecord& state) {
  for (uint32_t m = ports_[input].pauses; m != 0; m &= m - 1) {
    Level& l = level(input, static_cast<uint32_t>(__builtin_ctz(m)));
    l.meter.write(state);
    state.number((l.pauses << 1) | (l.pausing ? 1u : 0u));
  }
}

// With a pause or an overrun since no two records agree: a period of a train has none.
void Router::write_pauses(uint32_t output, StateRecord& state) {
  if (ports_[output].paused_by != 0) state.number(ports_[output].overruns);
  for (uint32_t m = ports_[output].paused_by; m != 0; m &= m - 1)
    pausing_[output * config_.virtual_networks + static_cast<uint32_t>(__builtin_ctz(m))].write(state);
}

void Router::shift_levels(uint32_t input, Ticks by) {
  for (uint32_t m = ports_[input].pauses; m != 0; m &= m - 1) {
    Level& l = level(input, static_cast<uint32_t>(__builtin_ctz(m)));
    l.meter.shift(by);
    if (l.due != kNever) l.due += by;
  }
}

void Router::set_aside(uint32_t input) {
  Port& port = ports_[input];
  port.aside = true;
  if (port.va_mask != 0) va_ports_.erase(input);
  if (port.sa_mask != 0) sa_ports_.erase(input);
  if (port.held_mask != 0) {
    held_ports_.erase(input);
    --held_count_;
  }
}

void Router::shift_queue(uint32_t input, uint32_t v, const StateRecord::Queue& queue, Ticks period,
                         uint64_t periods) {
  if (queue.stays) return announce(input, v, queue.grown, period, periods);
  const Ticks by = periods * period;
  InputVc& in = inputs_[input * vcs_ + v];
  for (uint32_t k = 0; k < in.queue.size(); ++k) in.queue[k].first += by;
  in.ready += by;
  in.free_at += by;
  in.eligible += by;
  if (queue.passes_on) return pass_on(input, v, queue, periods);
  if (queue.grown != 0) put_in(input, v, 1, in.queue[1], static_cast<uint32_t>(periods) * queue.grown);
}

void Router::shift(uint32_t input, uint32_t output, const TrainLoad& load) {
  const Ticks by = load.periods * load.period;
  packets_ += load.packets;
  ports_[input].input_busy += by;
  ports_[output].output_busy += by;
  ports_[output].flits += load.flits;
  ports_[output].packets += load.packets;
  ports_[output].payload += load.bytes;
  if (load.packets != 0) ports_[output].last_end += by;
  ports_[output].all_free += by;
  for (uint32_t v = 0; v < vcs_; ++v) {
    shift_queue(input, v, load.queues[v], load.period, load.periods);
    OutputVc& out = outputs_[output * vcs_ + v];
    out.credit.shift(load.credits[v], load.period, load.periods);
    out.free_at += by;
  }
  shift_levels(input, by);
}

void Router::work_on(uint32_t input) {
  const Port& port = ports_[input];
  if (port.va_mask != 0) va_ports_.insert(input);
  if (port.sa_mask != 0) sa_ports_.insert(input);
  if (port.held_mask != 0) {
    held_ports_.insert(input);
    ++held_count_;
  }
}

void Router::begin_replay(const uint32_t* inputs, size_t count, Ticks from) {
  live_.va_ports = std::exchange(va_ports_, PortSet(ports()));
  live_.sa_ports = std::exchange(sa_ports_, PortSet(ports()));
  live_.held_ports = std::exchange(held_ports_, PortSet(ports()));
  live_.held_count = std::exchange(held_count_, 0);
  for (size_t k = 0; k < count; ++k) {
    ports_[inputs[k]].aside = false;
    // Those of other inputs are later than the replay.
    level_due_ = std::min(level_due_, next_level(inputs[k]));
    work_on(inputs[k]);
  }
  live_.next = std::exchange(next_, from);
  live_.notified = std::exchange(notified_, 0);
}

void Router::replay_cycle() {
  const Ticks t = next_;
  next_ = kNever;
  cycle(t);
}

void Router::end_replay(const uint32_t* inputs, size_t count) {
  va_ports_ = std::move(live_.va_ports);
  sa_ports_ = std::move(live_.sa_ports);
  held_ports_ = std::move(live_.held_ports);
  held_count_ = live_.held_count;
  for (size_t k = 0; k < count; ++k) work_on(inputs[k]);
  const Ticks next = std::min(next_, live_.next);
  next_ = live_.next;
  notified_ = live_.notified;
  if (next != kNever) wake_and_notify(next);
}

}  // namespace weft::packet
