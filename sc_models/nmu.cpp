// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/nmu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sc_models/message_bits.h"
#include "sc_models/nmu_parts.h"
#include "tlm_interconnect/ports/fetch_lines.h"

namespace weft {
namespace {

/// None, if all are as `nmu.endpoint_delay` says.
std::vector<EndDelays> ends_by_dimension(const Config& config) {
  std::vector<EndDelays> ends;
  const EndDelays all{config.nmu.endpoint_delay, config.nmu.endpoint_delay};
  bool own = false;
  for (const DimensionConfig& d : config.fabric_dimensions()) {
    ends.push_back(end_delays(config, d));
    own = own || !(ends.back() == all);
  }
  if (!own) ends.clear();
  return ends;
}

}  // namespace

void Nmu::Port::send(fabric::Transfer& transfer) {
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  if (forward != nullptr) {
    forward->nb_transport_fw(transfer, phase, zero);
  } else {
    backward->nb_transport_bw(transfer, phase, zero);
  }
}

void Nmu::Port::fetch_peer() const {
  if (analytical != Analytical::no) {
    __builtin_prefetch(last_links);
    if (direct != nullptr && neighbour != ~0u) fabric::DirectFabric::prefetch(direct->hint(neighbour));
    return;
  }
  __builtin_prefetch(forward != nullptr ? static_cast<const void*>(forward) : backward);
  if (peer_hint != nullptr) fabric::fetch_lines(peer_hint, 256);
}

Nmu::Nmu(sc_core::sc_module_name module_name, NpuId rank, const NmuContext& context)
    : NmuModel(module_name, rank),
      endpoint_delay_(context.config.nmu.endpoint_delay),
      pool_(context.pool),
      rank_(rank),
      place_(context.geometry.place(index(rank))),
      exchanges_in_full_(FullExchanges::possible(context.config)),
      placed_(!context.config.mapping.empty()),
      reduces_(context.config.collectives.reduction == ReductionKind::fixed_bandwidth),
      on_graph_(context.config.graph != nullptr),
      in_memory_(context.config.collectives.reduction == ReductionKind::hbm),
      engine_(
          rank, context.config, *this,
          [this](const collectives::CollectiveDone& done) {
            if (units_ != nullptr && done.plan->uses_units()) units_->leave(done.stream);
            if (exchanging_) exchanging_ = exchanges_.end(done.stream);
            if (lifting_) put_back(done.stream);
            client_->collective_done(rank_, done);
          },
          context.data, context.waits),
      config_(context.config),
      dimensions_(context.config.fabric_dimensions()),
      graph_(context.config.graph.get()),
      geometry_(context.geometry),
      units_(context.units),
      planes_(context.fidelity == nullptr ? 1 : context.fidelity->planes()),
      exchanges_(rank, context.config),
      images_(context.images) {
  ends_ = ends_by_dimension(config_);
  for (uint32_t p = 0; p < planes_.size(); ++p)
    planes_[p].dimensions = p == 0 ? &dimensions_ : &context.fidelity->plane(p).fabric_dimensions();
  if (graph_ != nullptr) {
    build_graph_ports(context.link_types);
  } else {
    build_ports(context.link_types);
  }
  if (context.config.nmu.injection_bandwidth.bytes_per_second != 0) {
    dma_type_ = fabric::LinkType(context.config.nmu.injection_bandwidth, 0);
    dma_ = fabric::Link(dma_type_);
    limited_injection_ = true;
  }
  limited_injection_ = limited_injection_ || context.config.nmu.injection_queue != 0;
  if (limited_injection_) injection_ = std::make_unique<std::deque<fabric::PacketRef>>();
  if (in_memory_) {
    memory_ = std::make_unique<MemoryDma>(
        "memory", context.config.hbm.outstanding, context.config.hbm.capacity,
        [this](uint32_t ref, Picoseconds at) {
          if (causes_ != nullptr) tell_access(ref, at);
          push(at, kReduced, ref);
        },
        [this](uint32_t ref) { return "the reduction of " + describe(pool_[ref]); });
  }
  if (context.probes != nullptr && context.probes->on()) declare_signals(*context.probes);
  submits_aside_ = limited_injection_ || probes_ != nullptr;
  if (pool_.causes() != nullptr) keep_causes(*pool_.causes());
  context.wheel.add(*this);
}

Nmu::~Nmu() = default;

void Nmu::attach(NmuClient& client) {
  if (client_ != nullptr) throw std::logic_error(fmt::format("{} has two clients", name()));
  client_ = &client;
}

void Nmu::start_collective(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                           int32_t priority, uint8_t plane) {
  start_part(stream, std::move(plan), priority, plane, false);
}

void Nmu::start_part(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                     int32_t priority, uint8_t plane, bool for_all) {
  if (plane != 0) lift(stream, plane);
  if (units_ != nullptr && plan->uses_units()) units_->join(stream, plan);
  if (exchanges_in_full_ && exchanges_.begin(stream, plan, *planes_[plane].dimensions)) exchanging_ = true;
  engine_.start(stream, std::move(plan), priority, for_all);
  // The queues are served when this instant has settled.
  if (!running()) wake_at(now());
}

fabric::PacketRef Nmu::make_packet(const Message& message, uint8_t flags) {
  const fabric::PacketRef ref = pool_.acquire();
  fabric::Packet& packet = pool_[ref];
  packet.bytes = message.bytes;
  packet.id_low = pack_low(message.id);
  packet.id_high = pack_high(message.id, static_cast<uint32_t>(submitted_));
  packet.source = index(rank_);
  packet.destination = placed_ ? geometry_.place(index(message.peer)) : index(message.peer);
  packet.data = message.data;
  packet.flags = flags;
  packet.submitted = now();
  ++submitted_;
  bytes_submitted_ += message.bytes;
  return ref;
}

void Nmu::submit(const Message& message) {
  const bool exchange = exchanging_ && message.symmetric && exchanges_.sends(message.id, now());
  const auto flags = static_cast<uint8_t>((message.op != ReduceOp::none ? kReduce : 0) |
                                          (exchange ? kExchange : 0) | (message.reverse ? kReverse : 0) |
                                          (mirroring_ ? mirror_flag(message.id.stream) : 0));
  const fabric::PacketRef ref = make_packet(message, flags);
  if (lifting_) pool_[ref].plane = plane_of(message.id.stream);
  if (submits_aside_) {
    // Out of line: every other message passes here.
    const auto hand_in = [this](fabric::PacketRef own) __attribute__((noinline)) {
      const Picoseconds ready = pool_[own].submitted;
      if (causes_ != nullptr) causes_->submitted(own);
      if (probes_ != nullptr) probes_->inject_queue.add({ready}, 1);
      if (message_watch_ != nullptr) message_watch_->handed_over(own, ready);
      if (!limited_injection_) return transmit(own, ready, ready);
      if (has_datapath_) return datapath_->outbound(own, ready);
      const Picoseconds at = shaped(own, ready);
      if (at > ready) {
        push(at, kInject, own);
      } else {
        inject(own);
      }
    };
    hand_in(ref);
    return;
  }
  const Picoseconds t = pool_[ref].submitted;
  transmit(ref, t, t);
}

void Nmu::send(NpuId destination, uint32_t tag, uint32_t ordinal, uint64_t bytes, uint32_t data,
               uint8_t plane) {
  Message message;
  message.peer = destination;
  message.id.kind = MessageId::Kind::point_to_point;
  message.id.stream = ordinal;
  message.id.round = tag;
  message.bytes = bytes;
  message.data = data;
  const fabric::PacketRef ref = make_packet(message, kNotifyInjected);
  pool_[ref].plane = plane;
  Picoseconds begin = timed(pool_[ref], [&] { return later(now(), start_delay_to(destination)); });
  if (causes_ != nullptr) {
    causes_->submitted(ref);
    if (begin > now())
      causes_->submitted(ref, causes_->stretch(insight::ActivityKind::endpoint, causes_->because(),
                                               index(rank_), insight::kPointToPoint, now(), begin));
  }
  if (probes_ != nullptr) probes_->inject_queue.add({now()}, 1);
  if (message_watch_ != nullptr) message_watch_->handed_over(ref, begin);
  if (has_datapath_) return datapath_->outbound(ref, begin);
  if (limited_injection_) begin = shaped(ref, begin);
  push(begin, limited_injection_ ? kInject : kSend, ref);
}

/// Ways go through the dimensions in ascending order: the last one decides.
EndDelays Nmu::own_ends_of(const fabric::Packet& packet) const {
  if ((packet.source & kUnitPeer) != 0) return ends_[packet.source & ~kUnitPeer];
  const uint32_t from = geometry_.place(packet.source);
  for (uint32_t d = geometry_.dimensions(); d-- > 0;)
    if (geometry_.coordinate(from, d) != geometry_.coordinate(place_, d)) return ends_[d];
  return {endpoint_delay_, endpoint_delay_};  // to itself
}

/// .. and the first one before a point-to-point message leaves.
Picoseconds Nmu::start_delay_to(NpuId destination) const {
  if (ends_.empty()) return endpoint_delay_;
  const uint32_t to = geometry_.place(index(destination));
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d)
    if (geometry_.coordinate(to, d) != geometry_.coordinate(place_, d)) return ends_[d].start;
  return endpoint_delay_;
}

void Nmu::schedule(Picoseconds at, uint32_t token) {
  push(at, kWake, token);
}

/// Of a message that this NMU has sent, which mirrors may have turned into its image.
NpuId Nmu::receiver_of(const fabric::Packet& sent) const {
  return NpuId{images_ != nullptr ? images_->receiver(sent) : geometry_.rank_at(sent.destination)};
}

void Nmu::push(Picoseconds time, uint32_t due, uint32_t ref) {
  push_ordered(time, {due, 0, pushed_++}, ref);
}

/// What comes over a port: equal times in the order of the senders and of what each has sent, whichever
/// process ran first.
void Nmu::push_received(Picoseconds time, uint8_t port, fabric::PacketRef ref) {
  const fabric::Packet& packet = pool_[ref];
  push_ordered(time, {port + kFirstPort, packet.source, sequence_of(packet.id_high)}, ref);
}

void Nmu::push_ordered(Picoseconds time, const Order& order, uint32_t ref) {
  queue_.push(time, order, ref);
  if (!running()) wake_at(time);
}

Picoseconds Nmu::take_tail(fabric::PacketRef ref) {
  if (!cut_through_tails_) return 0;
  for (size_t i = 0; i < tails_.size(); ++i) {
    if (tails_[i].packet != ref) continue;
    const Picoseconds tail = tails_[i].tail;
    tails_[i] = tails_.back();
    tails_.pop_back();
    cut_through_tails_ = !tails_.empty();
    return tail;
  }
  return 0;
}

void Nmu::prepare(bool near) const {
  if (queue_.empty()) return;
  const auto& entry = queue_.top();
  if (!received(entry.order.due)) {
    engine_.prefetch();
    return;
  }
  const Port* out = opposite(entry.order.due);
  const fabric::Packet& packet = pool_[entry.payload];
  if (!near) {
    engine_.prefetch();
    __builtin_prefetch(&packet);
    __builtin_prefetch(&out->forward);
    __builtin_prefetch(&out->first);
    return;
  }
  engine_.prefetch_chunk(static_cast<uint16_t>(packet.id_low >> 32));
  out->fetch_peer();
}

void Nmu::activate(Picoseconds t) {
  if (watched_) {
    work<true>(t);
  } else {
    work<false>(t);
  }
}

/// `kWatched`: with what waveforms and the causal log are told, which costs nothing otherwise.
template <bool kWatched>
[[gnu::always_inline]] inline void Nmu::work(Picoseconds t) {
  ++activations_;
  time_ = t;
  while (queue_.next() <= t) {
    const auto entry = queue_.pop();
    if (received(entry.order.due)) likely_ = opposite(entry.order.due);
    const fabric::PacketRef ref = entry.payload;
    switch (entry.order.due) {
      case kWake:
        engine_.wake(ref);
        break;
      case kSend:
        transmit(ref, t, take_tail(ref));
        break;
      case kInject:
        inject(ref);
        break;
      case kReleased:
        --port_[ref].held;
        inject_next();
        break;
      case kInjected:
        if (kWatched && causes_ != nullptr) causes_->left(ref, t);
        client_->message_injected(rank_, receiver_of(pool_[ref]),
                                  unpack(pool_[ref].id_low, pool_[ref].id_high));
        pool_.release(ref);
        break;
      case kReduced:
        reduced_in_memory(ref);
        break;
      default:
        if ((pool_[ref].flags & kTurn) && !take_turn<kWatched>(port_[(entry.order.due) - kFirstPort], ref))
          break;
        if (pool_[ref].destination == place_) {
          if ((pool_[ref].flags & kExchange) && !end_exchange(entry.order.due, ref)) break;
          if (kWatched && message_watch_ != nullptr) message_watch_->delivered(ref);
          if (in_memory_ && (pool_[ref].flags & kReduce)) {
            reduce_in_memory(ref);
          } else {
            const Picoseconds reduce =
                reduces_ && (pool_[ref].flags & kReduce) ? reduction_time(pool_[ref].bytes) : 0;
            if (kWatched && causes_ != nullptr) tell_delivery(ref, reduce);
            if (kWatched && probes_ != nullptr) tell_received(t);
            deliver(ref, reduce);
          }
        } else {
          transmit(ref, t, take_tail(ref));
        }
        break;
    }
  }
  engine_.settled();
  if (kWatched && probes_ != nullptr) probe_state(t);
  wake_at(queue_.next());
}

void Nmu::receive(Port& port, const fabric::Transfer& transfer) {
  const Picoseconds head = transfer.first;
  const Picoseconds tail = transfer.first + transfer.flit_time;
  fabric::Packet& packet = pool_[transfer.packet];
  Port* last = &port;  // analytical: that of the last dimension on the way
  if (port.analytical != Port::Analytical::no) {
    if (transfer.last_link != 0) last = port_ + (transfer.last_link >> 16);
    if (last->last_links != nullptr) {
      const uint32_t link = last->last_of(packet, transfer.last_link & 0xffff);
      packet.flags =
          static_cast<uint8_t>((packet.flags & ~kTurnSecond) | kTurn | (link == 1 ? kTurnSecond : 0));
      fabric::LastLink& last_link = last->last(link);
      last_link.expect(transfer.packet, packet.source, head, tail, last_link.time_of(packet.bytes));
    }
  }
  if (packet.destination == place_) {
    if (__builtin_expect(static_cast<int>(arrives_aside_), 0) != 0 && arrive_aside(transfer, *last)) return;
    push_received(timed(packet, [&] { return ready_at(packet, tail); }), last->number, transfer.packet);
  } else if (last->cut_through) {
    tails_.push_back({transfer.packet, tail});
    cut_through_tails_ = true;
    push_received(head, last->number, transfer.packet);
  } else {
    push_received(tail, last->number, transfer.packet);
  }
}

/// The link of a FullyConnected dimension by which a message from that rank comes here. Ways go through the
/// dimensions in ascending order: before its last step it had its source's coordinate in this one.
uint32_t Nmu::pair_link(uint32_t d, uint32_t source) const {
  return Shape::pair_link(geometry_.coordinate(place_, d), geometry_.coordinate(geometry_.place(source), d));
}

/// Analytical: a message that would be through by now takes the last link of its way. False: others are
/// before it, and it comes back later.
template <bool kWatched>
bool Nmu::take_turn(Port& port, fabric::PacketRef ref) {
  fabric::Packet& packet = pool_[ref];
  const bool second = (packet.flags & kTurnSecond) != 0;
  packet.flags = static_cast<uint8_t>(packet.flags & ~(kTurn | kTurnSecond));
  const uint32_t link = on_graph_ ? last_port(packet) : port.last_of(packet, second ? 1 : 0);
  const fabric::LastLink::Wait wait = port.last(link).take(ref);
  const bool on_head = packet.destination != place_ && port.cut_through;
  if (kWatched && causes_ != nullptr) tell_turn(port, ref, link, wait.head, wait.tail);
  if (on_head) {
    for (Tail& tail : tails_) tail.tail += tail.packet == ref ? wait.tail : 0;
  }
  const Picoseconds wait_time = on_head ? wait.head : wait.tail;
  if (wait_time == 0) return true;
  packet.queued += wait_time;
  push_received(timed(packet, [&] { return later(now(), wait_time); }), port.number, ref);
  return false;
}

/// A message of a full exchange is here. False: the link has not carried the others yet, and it comes back.
bool Nmu::end_exchange(uint32_t due, fabric::PacketRef ref) {
  fabric::Packet& packet = pool_[ref];
  packet.flags = static_cast<uint8_t>(packet.flags & ~kExchange);
  Picoseconds carried = exchanges_.receives(unpack(packet.id_low, packet.id_high), packet.submitted);
  if (carried == 0) return true;
  carried = timed(packet, [&] { return ready_at(packet, carried); });
  if (carried <= now()) return true;
  if (causes_ != nullptr) tell_exchange(port_[due - kFirstPort], ref, carried);
  packet.queued += carried - now();
  push_received(carried, static_cast<uint8_t>(due - kFirstPort), ref);
  return false;
}

std::string Nmu::describe(const fabric::Packet& packet) const {
  const bool unit = (packet.destination & kUnitPeer) != 0;
  return describe_message(packet, unit ? packet.destination : geometry_.rank_at(packet.destination));
}

Picoseconds Nmu::reduction_time(uint64_t bytes) {
  if (!reduces_) return 0;
  if (bytes != reduction_bytes_) {
    reduction_time_ = transfer_time(3 * static_cast<Wide>(bytes),
                                    config_.collectives.reduction_bandwidth);  // two reads, one write
    reduction_bytes_ = bytes;
  }
  return reduction_time_;
}

const Nmu::Route& Nmu::route(uint32_t destination, uint8_t variant) {
  if (routes_.empty()) routes_.resize(kRoutes);
  Route& cached =
      routes_[(destination ^ (destination >> 4) ^ (destination >> 8) ^ (destination >> 12)) % kRoutes];
  if (cached.destination != destination || cached.variant != variant)
    find_route(destination, variant, cached);
  return cached;
}

/// The port that leads straight to that NMU, at its dimension's own fidelity; null: another way is to be
/// found.
Nmu::Port* Nmu::port_to_neighbour(uint32_t destination) {
  if (!neighbours_) return nullptr;
  for (Port& port : ports_) {
    if (port.neighbour == destination && port.analytical == Port::Analytical::no) return &port;
  }
  return nullptr;
}

/// With switches_only_ the way is computed: a table would be one more place in memory. Null: another way is
/// to be found. `target`: as in Route.
Nmu::Port* Nmu::port_to_switch(const fabric::Packet& packet, uint32_t& target) {
  if (!switches_only_ || (packet.destination & kUnitPeer) != 0) return nullptr;
  Port* port = port_;
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    if (geometry_.size(d) <= 1) continue;
    const uint32_t from = geometry_.coordinate(place_, d);
    const uint32_t to = geometry_.coordinate(packet.destination, d);
    if (from != to) {
      target = place_ + (to - from) * geometry_.stride(d);
      return port;
    }
    port += 2;  // a pair of slots a dimension
  }
  return nullptr;
}

[[gnu::always_inline]] inline void Nmu::occupy_and_send(fabric::PacketRef ref, Port& port, fabric::Link& link,
                                                        uint32_t target, Picoseconds head, Picoseconds tail) {
  fabric::Packet& packet = pool_[ref];
  try {
    const fabric::Link::Slot slot = link.occupy(head, packet.bytes, tail, packet.id_low, ref);
    packet.queued += slot.start - head;
    const Picoseconds latency = paid_latency(packet.id_low, link.latency());
    packet.latency += latency;
    fabric::Transfer transfer;
    transfer.flit_time = slot.end - slot.start;
    transfer.first = later(slot.end, latency) - transfer.flit_time;
    transfer.packet = ref;
    transfer.target = target;
    if (packet.flags & (kNotifyInjected | kHolds)) {
      if (copies_ != nullptr) copies_->leaves(port.dimension, transfer);
      announce_injection(ref, slot.end);
    }
    port.send(transfer);
  } catch (const TimeOverflow& e) {
    throw e.of(std::string(name()) + ": " + describe(packet), kMessageRemedy);
  }
}

void Nmu::transmit(fabric::PacketRef ref, Picoseconds head, Picoseconds tail) {
  const fabric::Packet& packet = pool_[ref];
  Port* port = likely_;
  fabric::Link* link = nullptr;
  uint32_t target = 0;
  // Neighbours are known of ports on plane 0 only.
  if (port != nullptr && ((port->neighbour ^ packet.destination) | packet.plane) == 0) {
    if (port->analytical != Port::Analytical::no) {
      transmit_to_neighbour(ref, *port, 0, head, tail);
      return;
    }
    link = &port->first;
  } else if (port != nullptr && port->analytical != Port::Analytical::no &&
             ((port->lower_neighbour ^ packet.destination) | packet.plane) == 0) {
    transmit_to_neighbour(ref, *port, 1, head, tail);
    return;
  } else if (Port* const other = packet.plane == 0 ? port_to_neighbour(packet.destination) : nullptr) {
    port = other;
    link = &other->first;
  } else if (Port* const up = port_to_switch(packet, target)) {
    port = up;
    link = &up->first;
  } else {
    const Route& leg = route(packet.destination, variant_of(packet));
    if (leg.special) {
      transmit_special(ref, leg, head, tail);
      return;
    }
    port = port_ + leg.port;
    link = &port->link(leg.link);
    target = leg.target;
  }
  occupy_and_send(ref, *port, *link, target, head, tail);
}

void Nmu::transmit_special(fabric::PacketRef ref, const Route& leg, Picoseconds head, Picoseconds tail) {
  const Picoseconds ready = head > tail ? head : tail;
  if (leg.packet != 0) {
    transmit_packets(ref, leg, ready);
  } else if (graph_ == nullptr) {
    transmit_analytical(ref, leg, head, tail);
  } else if (leg.analytical) {
    transmit_over_graph(ref, head, tail);
  } else {
    const fabric::Packet& packet = pool_[ref];
    Port& port = port_[graph_->next_port(
        place_, packet.destination, Graph::flow(packet.source, packet.destination, flow_id(packet.id_low)))];
    occupy_and_send(ref, port, port.first, 0, head, tail);
  }
}

/// Analytical: the message takes the first link of its way, and passes the rest as if it were alone. The
/// receiver makes it queue for the last link. `rate`: of the slowest link, 0: like the first.
[[gnu::always_inline]] inline fabric::Transfer Nmu::take_first(fabric::PacketRef ref, fabric::Link& link,
                                                               Picoseconds latency, Rate rate,
                                                               Picoseconds head, Picoseconds tail) {
  fabric::Packet& packet = pool_[ref];
  try {
    const fabric::Link::Slot slot = link.occupy_analytical(head, packet.bytes, tail, packet.id_low, ref);
    packet.queued += slot.start - head;
    latency = paid_latency(packet.id_low, latency);
    packet.latency += latency;
    Picoseconds time = slot.end - slot.start;
    if (rate.bytes_per_second != 0) time = std::max(time, transfer_time(packet.bytes, rate));
    fabric::Transfer transfer;
    transfer.leave(slot.start, latency, time);
    transfer.packet = ref;
    if (packet.flags & (kNotifyInjected | kHolds)) announce_injection(ref, slot.end);
    return transfer;
  } catch (const TimeOverflow& e) {
    throw e.of(std::string(name()) + ": " + describe(packet), kMessageRemedy);
  }
}

void Nmu::transmit_over_graph(fabric::PacketRef ref, Picoseconds head, Picoseconds tail) {
  const fabric::Packet& packet = pool_[ref];
  const Graph::Path path = graph_->path(
      place_, packet.destination, Graph::flow(packet.source, packet.destination, flow_id(packet.id_low)));
  Port& port = port_[0];
  fabric::Transfer transfer =
      take_first(ref, port.link(path.first_port), path.latency, path.slowest, head, tail);
  if (causes_ != nullptr) tell_way(ref, place_, transfer, path.latency);
  transfer.last_link = path.last_port;
  transfer.target = packet.destination;
  port.send(transfer);
}

/// Of an analytical graph: the end of this node at which a message for it arrives.
uint32_t Nmu::last_port(const fabric::Packet& packet) const {
  return graph_
      ->path(geometry_.place(packet.source), place_,
             Graph::flow(packet.source, packet.destination, flow_id(packet.id_low)))
      .last_port;
}

uint8_t Nmu::first_port(const fabric::Packet& packet) {
  const Route& leg = route(packet.destination, variant_of(packet));
  if (graph_ == nullptr || leg.analytical || leg.packet != 0 || !leg.special) return leg.port;
  return static_cast<uint8_t>(graph_->next_port(
      place_, packet.destination, Graph::flow(packet.source, packet.destination, flow_id(packet.id_low))));
}

void Nmu::transmit_analytical(fabric::PacketRef ref, const Route& leg, Picoseconds head, Picoseconds tail) {
  Port& port = port_[leg.port];
  Rate rate;
  if (leg.several) {
    const DimensionConfig& slowest = dimensions_[leg.slowest];
    rate = leg.slowest_level == 0 ? slowest.link_rate() : slowest.tree->level(leg.slowest_level).rate();
  }
  fabric::Transfer transfer = take_first(ref, port.link(leg.link), leg.latency, rate, head, tail);
  if (causes_ != nullptr && leg.several) tell_way(ref, leg.target, transfer, leg.latency);
  transfer.last_link = leg.last;
  transfer.target = leg.target;
  hand_over(ref, port, transfer);
}

void Nmu::transmit_to_neighbour(fabric::PacketRef ref, Port& port, uint32_t link, Picoseconds head,
                                Picoseconds tail) {
  fabric::Link& first = port.link(link);
  fabric::Transfer transfer = take_first(ref, first, first.latency(), Rate{}, head, tail);
  transfer.last_link = static_cast<uint32_t>(port.number) << 16 | link;
  transfer.target = link == 0 ? port.neighbour : port.lower_neighbour;
  hand_over(ref, port, transfer);
}

/// Analytical: to the receiver, which is this NMU where one stands for all.
inline void Nmu::hand_over(fabric::PacketRef ref, Port& port, fabric::Transfer& transfer) {
  fabric::Packet& packet = pool_[ref];
  if (packet.flags & kMirrored) {
    packet.source = packet.destination;  // by symmetry the peer's like; which one of them does not matter
    packet.destination = place_;
    receive(port, transfer);
    return;
  }
  if (port.direct == nullptr) {
    port.send(transfer);
    return;
  }
  port.direct->deliver(transfer);
}

void Nmu::lift(uint32_t stream, uint8_t plane) {
  lifted_.push_back({stream, plane});
  lifting_ = true;
}

void Nmu::put_back(uint32_t stream) {
  lifted_.erase(
      std::remove_if(lifted_.begin(), lifted_.end(), [&](const Lifted& l) { return l.stream == stream; }),
      lifted_.end());
  lifting_ = !lifted_.empty();
}

uint8_t Nmu::plane_of(uint32_t stream) const {
  for (const Lifted& lifted : lifted_) {
    if (lifted.stream == stream) return lifted.plane;
  }
  return 0;
}

uint8_t Nmu::mirror_flag(uint32_t stream) const {
  return std::find(mirrored_.begin(), mirrored_.end(), stream) != mirrored_.end() ? kMirrored : 0;
}

void Nmu::announce_injection(fabric::PacketRef ref, Picoseconds end) {
  fabric::Packet& packet = pool_[ref];
  if (packet.source != index(rank_)) return;  // a later leg
  if (packet.flags & kHolds) {
    packet.flags &= static_cast<uint8_t>(~kHolds);
    push(end, kReleased, first_port(packet));
  }
  if ((packet.flags & kNotifyInjected) == 0) return;
  pool_.add_reference(ref);
  push(end, kInjected, ref);
}

void Nmu::deliver(fabric::PacketRef ref, Picoseconds reduce) {
  const fabric::Packet& packet = pool_[ref];
  Completion completion;
  completion.id = unpack(packet.id_low, packet.id_high);
  completion.source = NpuId{packet.source};
  completion.bytes = packet.bytes;
  completion.data = packet.data;
  completion.submitted = packet.submitted;
  completion.split.queue = packet.queued;
  const EndDelays ends = ends_of(packet);
  completion.split.latency = packet.latency + (ends.end - ends.start);
  completion.split.endpoint = ends.start;
  completion.split.reduce = reduce;
  completion.split.serialise = now() - packet.submitted - packet.queued - completion.split.latency -
                               completion.split.endpoint - completion.split.reduce;
  ++delivered_;
  bytes_delivered_ += packet.bytes;
  pool_.release(ref);
  if (completion.id.kind == MessageId::Kind::collective) {
    engine_.completed(completion);
  } else if (completion.id.kind == MessageId::Kind::program) {
    programs_->completed(completion);
  } else {
    client_->message_arrived(rank_, completion);
  }
}

}  // namespace weft
