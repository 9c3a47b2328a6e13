// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Both directions of an interface are in this one file, of more than 600 lines: sending and receiving share
// its queues, credits and pauses, and the compiler inlines them into each other. Beside it:
// network_interface_trains.cpp.

#include "tlm_interconnect/packet/network_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tlm_interconnect/packet/message_order.h"
#include "tlm_interconnect/packet/packet_trains.h"

namespace weft::packet {
namespace {

constexpr const char* kReport = "weft/tlm_interconnect/packet";
constexpr uint32_t kNoVcYet = ~0u;
/// Packets of a source whose flows are held back: when there are so many it waits, as a full queue would.
constexpr uint64_t kMostSetAside = 1024;

/// Of the packets that are set aside: by virtual network, then by destination.
uint64_t flow_key(uint32_t virtual_network, uint32_t destination) {
  return uint64_t{virtual_network} << 32 | destination;
}

uint64_t bits_per_second(uint32_t flit_bytes, Ticks flit_time) {
  return static_cast<uint64_t>(static_cast<Wide>(flit_bytes) * 8 * kTicksPerSecond / flit_time);
}

// How far ahead cycles may be decided. Where times fall between cycles a flit may count on a credit that
// comes within its own cycle.
Ticks decidable(const PacketConfig& config, const PortConfig& port) {
  for (const Ticks t : {port.latency, port.credit_latency, port.flit_time}) {
    if (t % config.cycle != 0) {
      return std::max<Ticks>(1, port.lookahead - std::min(port.lookahead, config.cycle));
    }
  }
  return port.lookahead;
}

}  // namespace

NetworkInterface::NetworkInterface(sc_core::sc_module_name name, uint32_t rank, const PortConfig& port,
                                   const InterfaceContext& network)
    : sc_module(name),
      WheelModule(network.wheel),
      config_(network.config),
      rank_(rank),
      vcs_(config_.total_vcs()),
      cycle_(config_.cycle),
      edges_(config_.cycle),
      flit_delay_(std::max(config_.cycle, port.flit_time) + port.latency),
      credit_delay_(config_.cycle + port.credit_latency),
      flit_time_(port.flit_time),
      lookahead_(decidable(config_, port)),
      take_turns_(config_.virtual_networks > 1 || config_.interleave_messages || config_.dcqcn.enabled),
      segmentation_(network.segmentation),
      line_rate_(bits_per_second(segmentation_.flit_bytes, port.flit_time)),
      pool_(network.pool),
      messages_(network.messages),
      ways_(network.ways),
      shuffle_(config_.shuffle, ~static_cast<uint64_t>(rank)),
      endpoint_(*this),
      link_(port.name, port.end, endpoint_),
      last_vc_(config_.virtual_networks, kNoVcYet),
      out_(vcs_),
      paused_by_(port.paused_by),
      queues_(config_.virtual_networks),
      in_(vcs_) {
  for (CreditAccount& account : out_) account.set_depth(port.peer_depth);
  if (config_.dcqcn.enabled) {
    reaction_ = std::make_unique<ReactionPoint>(config_.dcqcn, line_rate_, segmentation_.flit_bytes, cycle_);
    notification_ = std::make_unique<NotificationPoint>(config_.dcqcn);
  }
  if (paused_by_ != 0) pausing_ = std::vector<PauseAccount>(config_.virtual_networks);
}

void NetworkInterface::end_of_elaboration() {
  link_.resolve();
}

void NetworkInterface::wake_and_notify(Ticks t) {
  wake(t);
  if (t < notified_) {
    notified_ = t;
    run_at(t);
  }
}

void NetworkInterface::too_late() const {
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: a message at {}: packet fidelity counts up to {}; use message or analytical "
                  "fidelity for longer runs, or cut the run",
                  sc_module::name(), sc_core::sc_time_stamp().to_string(),
                  sc_core::sc_time::from_value(kLongestTickTime).to_string()));
}

void NetworkInterface::set_source(PacketSource* source) {
  source_ = source;
  if (trains_ != nullptr && trains_->disturb(number_)) interrupted_ = true;
  wake_and_notify(on_cycle(kernel_time()));
}

// How far ahead cycles are decided already depends on how long bursts are; what is sent must not.
void NetworkInterface::close_source() {
  source_ends_ = kernel_time() + lookahead_;
}

void NetworkInterface::restart(Ticks now) {
  run_no_more();
  edges_.start_at(now);
  vc_ = 0;
  busy_ = now;
  std::fill(last_vc_.begin(), last_vc_.end(), kNoVcYet);
  for (CreditAccount& account : out_) account.restart();
  watched_ = 0;
  draining_ = 0;
  for (PauseAccount& account : pausing_) account.restart(now);
  overrun_ = 0;
  last_network_ = 0;
  if (reaction_) reaction_->restart(now);
  if (notification_) notification_->restart();
  last_message_ = 0;
  next_ = kNever;
  notified_ = kNever;
}

uint32_t NetworkInterface::submit(const Message& message) {
  if (message.virtual_network >= queues_.size()) {
    SC_REPORT_FATAL(kReport, fmt::format("{}: virtual network {} of {}", sc_module::name(),
                                         message.virtual_network, queues_.size())
                                 .c_str());
  }
  check_time(ticks(std::min(message.submitted, 2 * kLongestTickTime)));
  const uint32_t handle = messages_.acquire();
  MessagePool::Open& open = messages_[handle];
  open.message = message;
  open.message.source = rank_;
  open.left = segmentation_.packets(message.bytes);
  std::deque<Queued>& queue = queues_[message.virtual_network];
  const Ticks present = kernel_time();
  // Before those that have just had their turn in this very cycle: as if this process had run before them.
  auto place = queue.end();
  while (place != queue.begin() && picoseconds(std::prev(place)->turn) == picoseconds(present)) --place;
  queue.insert(place, {handle, 0, present, kNever});
  if (probes_) probes_->wait(std::max(ticks(message.submitted), present), 1);
  if (queue.size() == 1 || told_ || reaction_) {
    if (trains_ != nullptr && trains_->disturb(number_)) {
      interrupted_ = true;
      wake_and_notify(on_cycle(present));
    }
    wake_and_notify(std::max(on_cycle(std::max(ticks(message.submitted), present)),
                             packet_ == fabric::kNoPacket ? free_from() : 0));
  }
  return handle;
}

void NetworkInterface::activate() {
  if (aside_ && !interrupted_ && kernel_time() < ticks(picoseconds(resume_))) {
    next_ = notified_ = resume_;
    run_at(resume_);
    return;
  }
  if (config_.shuffle != 0 && (shuffle_.next() & 1) != 0) {
    run_again();
    return;
  }
  ++activations_;
  const Ticks now = notified_;  // exact, where the kernel may be up to a picosecond late
  const Ticks horizon = now + lookahead_;
  notified_ = 0;
  if (aside_) trains_->resume(number_);
  while (next_ < horizon && !aside_) {
    const Ticks t = next_;
    // Whose turn is next is not decided ahead: until then another message may be submitted.
    if (t > now && (take_turns_ || steps_) && packet_ == fabric::kNoPacket) break;
    next_ = kNever;
    cycle(t);
    if (probes_) tell_cycle(t);
  }
  notified_ = next_;
  if (next_ != kNever) run_at(next_);
}

void NetworkInterface::cycle(Ticks t) {
  if (free_from() > t) {
    wake(free_from());
    return;
  }
  if (packet_ != fabric::kNoPacket) {
    CreditAccount& credit = out_[vc_];
    if (credit.at(t) > 0 || credit.run(std::max(t, busy_), 1, flit_time_) > 0) {
      send(t);
      return;
    }
    missed_credit(vc_ / config_.vcs);
    const Ticks when = credit.when(1);
    if (when == kNever) {
      watched_ |= vc_bit(vc_);
    } else {
      wake(on_cycle(when));
    }
    return;
  }
  if (t >= source_ends_) {
    source_ = nullptr;
    have_spec_ = false;
    set_aside_.clear();
    set_aside_packets_ = 0;
  }
  if (reaction_) {
    begin_by_rate(t);
  } else {
    begin_packet(t);
  }
}

void NetworkInterface::begin_packet(Ticks t) {
  if (!have_spec_ && source_ != nullptr) have_spec_ = source_->next(spec_);
  const auto networks = static_cast<uint32_t>(queues_.size());
  const auto candidate = [&](uint32_t i) {
    return config_.strict_priority ? networks - i : (last_network_ + i) % networks;
  };
  // A message that is submitted in this very cycle, before or after this process runs, does not go before
  // those that were there.
  bool only_known = false;
  for (uint32_t i = 1; networks > 1 && i <= networks; ++i) only_known = only_known || known(candidate(i), t);
  for (uint32_t i = 1; i <= networks; ++i) {
    const uint32_t network = candidate(i);
    Ticks ready = 0;
    uint32_t flits = 0;
    if (!next_ready(network, ready, flits)) continue;
    if (ready > t) {
      wake(on_cycle(ready));
      continue;
    }
    if (only_known && !known(network, t)) {
      wake(t + cycle_);
      continue;
    }
    if (!may_begin(t, network)) continue;
    const uint32_t last_vc = last_vc_[network];
    if (!choose_vc(t, network, flits)) continue;
    if (trains_ != nullptr && !queues_[network].empty() && trains_->carry(*this, network, t)) {
      last_vc_[network] = last_vc;  // chosen again when the train is resumed
      return;
    }
    last_network_ = network;
    take_next(t, network);
    send(t);
    return;
  }
}

// As begin_packet(), but no packet goes before the rate of its flow allows it. Others go meanwhile; those of
// one flow wait alike, so that they stay in order.
void NetworkInterface::begin_by_rate(Ticks t) {
  const auto networks = static_cast<uint32_t>(queues_.size());
  const uint32_t before = last_network_;
  bool known = false;    // something that was there before may go now
  bool unknown = false;  // something may that has been submitted in this very cycle
  for (const bool only_known : {true, false}) {
    for (uint32_t i = 1; i <= networks; ++i) {
      const uint32_t network = config_.strict_priority ? networks - i : (before + i) % networks;
      if (!may_begin(t, network)) continue;
      const Choice choice = choose_by_rate(t, network, only_known, unknown);
      if (choice.kind == Choice::Kind::none) continue;
      known = known || only_known;
      if (!choose_vc(t, network, choice.flits)) continue;
      last_network_ = network;
      switch (choice.kind) {
        case Choice::Kind::message:
          take_message(t, network, choice.message);
          break;
        case Choice::Kind::set_aside: {
          const auto flow = set_aside_.find(flow_key(network, choice.destination));
          take_spec(flow->second.front().spec);
          flow->second.pop_front();
          if (flow->second.empty()) set_aside_.erase(flow);
          --set_aside_packets_;
          break;
        }
        default:
          take_spec(spec_);
          have_spec_ = false;
      }
      reaction_->begin(choice.destination, t, std::max(t, busy_), packet_flits_);
      send(t);
      return;
    }
    if (known || !unknown) break;
  }
  if (known && unknown) wake(t + cycle_);
}

NetworkInterface::Choice NetworkInterface::choose_by_rate(Ticks t, uint32_t virtual_network, bool only_known,
                                                          bool& unknown) {
  const std::deque<Queued>& queue = queues_[virtual_network];
  const Ticks start = std::max(t, busy_);
  uint32_t held_back = ~0u;  // the destination last asked about: there may be many messages to it
  for (uint32_t i = 0; i < queue.size(); ++i) {
    const Message& m = messages_[queue[i].message].message;
    if (ticks(m.submitted) > t) {
      wake(on_cycle(ticks(m.submitted)));
      break;
    }
    if (m.destination == held_back) continue;
    const Ticks then = reaction_->may_begin(m.destination, t, start);
    if (then > t) {
      held_back = m.destination;
      wake(on_cycle(then));
      continue;
    }
    if (only_known && queue[i].handed_over >= t) {
      unknown = true;
      continue;
    }
    return {Choice::Kind::message, i, m.destination, segmentation_.flits(next_payload(queue[i]))};
  }
  return queue.empty() ? choose_of_source(t, virtual_network) : Choice{};
}

// The oldest packet whose flow may go. Packets of flows that are held back are set aside, so that those
// behind them are reached.
NetworkInterface::Choice NetworkInterface::choose_of_source(Ticks t, uint32_t virtual_network) {
  const Ticks start = std::max(t, busy_);
  Choice choice;
  uint64_t oldest = ~uint64_t{0};
  const uint64_t first = flow_key(virtual_network, 0);
  for (auto it = set_aside_.lower_bound(first); it != set_aside_.end() && it->first >> 32 == virtual_network;
       ++it) {
    const SetAside& packet = it->second.front();
    const Ticks then = reaction_->may_begin(packet.spec.destination, t, start);
    if (then > t) {
      wake(on_cycle(then));
    } else if (packet.number < oldest) {
      oldest = packet.number;
      choice = {Choice::Kind::set_aside, 0, packet.spec.destination, packet.spec.flits};
    }
  }
  while (choice.kind == Choice::Kind::none) {
    if (!have_spec_ && source_ != nullptr) have_spec_ = source_->next(spec_);
    if (!have_spec_) break;
    if (spec_.ready > t) {
      wake(on_cycle(spec_.ready));
      break;
    }
    if (spec_.virtual_network == virtual_network) {
      const Ticks then = reaction_->may_begin(spec_.destination, t, start);
      if (then <= t) return {Choice::Kind::source, 0, spec_.destination, spec_.flits};
      wake(on_cycle(then));
    }
    if (set_aside_packets_ >= kMostSetAside) break;
    set_aside_[flow_key(spec_.virtual_network, spec_.destination)].push_back({next_set_aside_++, spec_});
    ++set_aside_packets_;
    have_spec_ = false;
  }
  return choice;
}

void NetworkInterface::notify(uint32_t destination, Ticks at) {
  reaction_->notify(destination, at, kernel_decided());
}

std::map<uint32_t, FlowRecord> NetworkInterface::flow_records() const {
  if (!reaction_) return {};
  return reaction_->records(kernel_time());
}

bool NetworkInterface::known(uint32_t virtual_network, Ticks t) const {
  const std::deque<Queued>& queue = queues_[virtual_network];
  if (queue.empty()) return have_spec_ && spec_.virtual_network == virtual_network && spec_.ready <= t;
  return queue.front().handed_over < t && ticks(messages_[queue.front().message].message.submitted) <= t;
}

bool NetworkInterface::next_ready(uint32_t virtual_network, Ticks& ready, uint32_t& flits) {
  const std::deque<Queued>& queue = queues_[virtual_network];
  if (!queue.empty()) {
    const Message& m = messages_[queue.front().message].message;
    ready = ticks(m.submitted);
    flits = segmentation_.flits(next_payload(queue.front()));
    return true;
  }
  if (!have_spec_ || spec_.virtual_network != virtual_network) return false;
  ready = spec_.ready;
  flits = spec_.flits;
  return true;
}

// A packet that has begun goes on to its end, whatever the router says.
bool NetworkInterface::may_begin(Ticks t, uint32_t virtual_network) {
  if (paused_by_ == 0 || !pausing_[virtual_network].at(t)) return true;
  wake(pausing_[virtual_network].next_change());  // not known yet: it wakes when it comes
  return false;
}

void NetworkInterface::missed_credit(uint32_t virtual_network) {
  if (((paused_by_ >> virtual_network) & 1) == 0 || ((overrun_ >> virtual_network) & 1) != 0) return;
  overrun_ |= 1u << virtual_network;
  ++overruns_;
}

void NetworkInterface::receive_pause(const fabric::Transfer& transfer) {
  const uint32_t network = index(transfer.vc) / config_.vcs;
  const bool on = transfer.kind == fabric::Transfer::Kind::pause;
  if (((paused_by_ >> network) & 1) == 0 || pausing_[network].expects_resume() == on) {
    SC_REPORT_FATAL(kReport, fmt::format("{} virtual network {}: a {} that nobody can have sent",
                                         sc_module::name(), network, on ? "pause" : "resume")
                                 .c_str());
  }
  const Ticks from = on_cycle(transfer.first);
  pausing_[network].change(from);
  if (!on) wake_and_notify(from);
}

PauseAccount::Figures NetworkInterface::pauses() const {
  PauseAccount::Figures sum;
  for (const PauseAccount& account : pausing_) sum += account.figures(kernel_time());
  return sum;
}

bool NetworkInterface::paused(uint32_t virtual_network) const {
  return !pausing_.empty() && pausing_[virtual_network].paused(kernel_time());
}

// Round-robin over the VCs that no packet holds and that have a credit (strict cut-through: for the whole
// packet).
bool NetworkInterface::choose_vc(Ticks t, uint32_t virtual_network, uint32_t flits) {
  const uint32_t base = virtual_network * config_.vcs;
  const uint32_t last = last_vc_[virtual_network];
  const uint32_t needed = config_.strict_cut_through ? flits : 1;
  bool short_of_credits = false;
  for (uint32_t i = 0; i < config_.vcs; ++i) {
    const uint32_t v = base + (last == kNoVcYet ? i : (last - base + 1 + i) % config_.vcs);
    const int32_t credits = out_[v].at(t);
    const bool draining = ((draining_ >> v) & 1) != 0;
    if (draining && credits == static_cast<int32_t>(out_[v].depth())) draining_ &= ~vc_bit(v);
    if (((draining_ >> v) & 1) == 0 && credits >= static_cast<int32_t>(needed)) {
      vc_ = v;
      last_vc_[virtual_network] = v;
      return true;
    }
    short_of_credits = short_of_credits || ((draining_ >> v) & 1) == 0;
    const Ticks when = out_[v].when(((draining_ >> v) & 1) != 0 ? out_[v].depth() : needed);
    if (when == kNever) {
      watched_ |= vc_bit(v);
    } else {
      wake(on_cycle(when));
    }
  }
  if (short_of_credits) missed_credit(virtual_network);
  return false;
}

void NetworkInterface::take_next(Ticks t, uint32_t virtual_network) {
  if (queues_[virtual_network].empty()) {
    take_spec(spec_);
    have_spec_ = false;
  } else {
    take_message(t, virtual_network, 0);
  }
}

uint64_t NetworkInterface::next_payload(const Queued& queued) {
  return std::min<uint64_t>(messages_[queued.message].message.bytes - queued.cut, segmentation_.packet_bytes);
}

fabric::Packet& NetworkInterface::new_packet() {
  packet_ = pool_.acquire();
  pool_.prefetch();
  sent_ = 0;
  fabric::Packet& packet = pool_[packet_];
  packet.source = rank_;
  packet.interface = number_;
  return packet;
}

void NetworkInterface::take_spec(const PacketSource::Spec& spec) {
  fabric::Packet& packet = new_packet();
  packet.bytes = spec.bytes;
  packet.id_low = spec.id;
  packet.submitted = spec.ready;
  packet.destination = spec.destination;
  packet.virtual_network = spec.virtual_network;
  packet_flits_ = spec.flits;
  last_message_ = 0;
}

// The next packet is one of this message. If it is the first one, or the latest one was another's, the
// message has waited.
void NetworkInterface::begin_turn(Ticks t, const Queued& next) {
  Message& m = messages_[next.message].message;
  if (next.cut == 0) {
    m.injected = picoseconds(t);
    if (probes_) probes_->wait(t, -1);
  }
  if (next.message == last_message_) return;
  const Ticks start = std::max(t, busy_);
  const Ticks from = next.cut == 0 ? on_cycle(ticks(m.submitted)) : messages_[next.message].gone;
  if (start > from) queued_ += start - from;
  last_message_ = next.message;
}

void NetworkInterface::describe(const Message& message, fabric::Packet& packet) {
  packet.id_low = message.id_low;
  packet.submitted = ticks(message.submitted);
  packet.source = message.source;
  packet.destination = message.destination;
  packet.data = message.data;
  packet.flags = message.flags;
  packet.virtual_network = message.virtual_network;
}

void NetworkInterface::take_message(Ticks t, uint32_t virtual_network, uint32_t place) {
  std::deque<Queued>& queue = queues_[virtual_network];
  Queued& next = queue[place];
  begin_turn(t, next);
  const Message& m = messages_[next.message].message;
  fabric::Packet& packet = new_packet();
  packet.bytes = next_payload(next);
  packet.id_high = next.message;
  describe(m, packet);
  packet_flits_ = segmentation_.flits(packet.bytes);
  next.cut += packet.bytes;
  if (next.cut == m.bytes) {
    packet.id_high |= kLastPacket;
    last_of_ = next.message;
    queue.erase(queue.begin() + place);
  } else if (config_.interleave_messages && (m.flags & kWithoutTurns) == 0) {
    next.turn = t;
    const Queued again = next;
    queue.erase(queue.begin() + place);
    queue.push_back(again);
  }
}

void NetworkInterface::send(Ticks t) {
  // A rate that is no multiple of the clock carries the remainder while the link stays busy.
  const Ticks start = std::max(t, busy_);
  check_time(start);
  const uint32_t n = out_[vc_].run(start, packet_flits_ - sent_, flit_time_);
  out_[vc_].spend(n);
  fabric::Transfer transfer;
  transfer.kind = fabric::Transfer::Kind::burst;
  transfer.first = start + flit_delay_;
  transfer.flit_time = flit_time_;
  transfer.packet = packet_;
  transfer.first_flit = sent_;
  transfer.flits = n;
  transfer.packet_flits = packet_flits_;
  transfer.vc = static_cast<VcId>(vc_);
  if (sent_ == 0) payload_sent_ += pool_[packet_].bytes;
  sent_ += n;
  flits_sent_ += n;
  if (watch_ != nullptr) watch_->sent({start, n, flit_time_, packet_, sent_ == packet_flits_});
  busy_ = start + static_cast<Ticks>(n) * flit_time_;
  if (probes_) {
    probes_->count(vc_, start, n, flit_time_, -1);
    if (probes_->link)
      probes_->link->carried(
          burst_of(start, n, flit_time_,
                   {segmentation_.flit_bytes, pool_[packet_].id_low, sent_ == n, sent_ == packet_flits_}));
  }
  const bool last = sent_ == packet_flits_ && last_of_ != 0;
  if (last) {
    last_message_ = 0;  // its handle may be another's next
    if (!told_) tell_sent(messages_[last_of_].message);
    told_ = false;
    last_of_ = 0;
  } else if (sent_ == packet_flits_ && take_turns_ && last_message_ != 0) {
    messages_[last_message_].gone = busy_;
  }
  if (sent_ == packet_flits_) {
    ++packets_sent_;
    overrun_ &= ~(1u << (vc_ / config_.vcs));
    packet_ = fabric::kNoPacket;
    if (config_.release_on_credit) draining_ |= vc_bit(vc_);
    if (!have_spec_ && source_ != nullptr) have_spec_ = source_->next(spec_);
    for (uint32_t network = 0; network < queues_.size(); ++network) {
      Ticks ready = 0;
      uint32_t flits = 0;
      if (next_ready(network, ready, flits)) wake(std::max(free_from(), on_cycle(ready)));
    }
    if (set_aside_packets_ != 0) wake(free_from());
  } else {
    wake(free_from());
  }
  link_.send(transfer);
  if (last && trains_ != nullptr) trains_->last_sent(number_, t);
}

// Its last flit leaves when the link is free again.
void NetworkInterface::tell_sent(const Message& message) {
  ++messages_sent_;
  if (sink_ != nullptr) sink_->message_sent(message, picoseconds(on_cycle(busy_)));
}

void NetworkInterface::receive(const fabric::Transfer& transfer) {
  const uint32_t v = index(transfer.vc);
  if (transfer.kind == fabric::Transfer::Kind::credit) {
    out_[v].add({transfer.first, transfer.flits, transfer.flit_time});
    if (probes_) probes_->count(v, transfer.first, transfer.flits, transfer.flit_time, 1);
    if (((watched_ >> v) & 1) != 0) {
      watched_ &= ~vc_bit(v);
      wake_and_notify(on_cycle(transfer.first));
    }
    return;
  }
  if (transfer.kind != fabric::Transfer::Kind::burst) {
    receive_pause(transfer);
    return;
  }
  InputVc& in = in_[v];
  if (transfer.first_flit != in.next || (in.next != 0 && transfer.packet != in.packet)) {
    SC_REPORT_FATAL(kReport, fmt::format("{} VC {}: flit {} where flit {} was due: packets mixed in a VC",
                                         sc_module::name(), v, transfer.first_flit, in.next)
                                 .c_str());
  }
  if (transfer.first_flit == 0 && !ends(pool_[transfer.packet].destination)) {
    SC_REPORT_FATAL(kReport, fmt::format("{}: a packet for rank {} came to rank {}", sc_module::name(),
                                         pool_[transfer.packet].destination, rank_)
                                 .c_str());
  }
  in.packet = transfer.packet;
  in.next = transfer.first_flit + transfer.flits;
  flits_received_ += transfer.flits;
  const Ticks last = transfer.first + static_cast<Ticks>(transfer.flits - 1) * transfer.flit_time;
  if (sink_ != nullptr) sink_->flits_arrive(transfer.flits, transfer.first, transfer.flit_time);
  const bool tail = in.next == transfer.packet_flits;
  if (tail) in.next = 0;
  if (arrivals_ != nullptr) {
    arrivals_->push_back({transfer.first, transfer.flits, transfer.flit_time, tail,
                          static_cast<uint32_t>(pool_[transfer.packet].id_high)});
  }

  fabric::Transfer credit;
  credit.kind = fabric::Transfer::Kind::credit;
  credit.first = transfer.first + credit_delay_;
  credit.flit_time = transfer.flit_time;
  credit.flits = transfer.flits;
  credit.vc = transfer.vc;
  link_.send(credit);
  if (tail) arrived(transfer.packet, transfer.packet_flits, last);
}

void NetworkInterface::arrived(fabric::PacketRef ref, uint32_t flits, Ticks at) {
  ++packets_received_;
  const auto sent_as = static_cast<uint32_t>(pool_[ref].id_high);
  if (pool_[ref].marked != 0) {
    ++marked_received_;
    if (notification_ && notification_->notifies(static_cast<uint32_t>(pool_[ref].interface), at)) {
      carrier_->carry_notification(number_, pool_[ref], at);
    }
  }
  if (sink_ != nullptr) sink_->packet_arrives(pool_[ref], flits, at);
  if (arrival_watch_ != nullptr) arrival_watch_->arrived(ref, sent_as, at);
  pool_.release(ref);
  if (sent_as == 0) return;
  const uint32_t handle = messages_.here(sent_as);
  MessagePool::Open& open = messages_[handle];
  open.last = std::max(open.last, at);
  if (--open.left > 0) return;
  const Message message = open.message;
  const Ticks done = open.last;
  if (trains_ != nullptr) trains_->arrived(handle);
  messages_.release(handle);
  if (handle != sent_as) messages_.ended(sent_as);
  if (sink_ != nullptr) sink_->message_arrives(message, picoseconds(done));
}

}  // namespace weft::packet
