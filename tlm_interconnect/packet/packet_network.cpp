// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/packet_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tlm_interconnect/packet/buffer_check.h"
#include "tlm_interconnect/packet/dependency_check.h"
#include "tlm_interconnect/packet/network_check.h"

namespace weft::packet {
namespace {

/// With what ECN needs to know of the network.
PacketConfig completed(PacketConfig config, const PacketTopology& topology, const Segmentation& cut) {
  config.ecn.flit_bytes = cut.flit_bytes;
  config.ecn.ranks = topology.ranks();
  return config;
}

}  // namespace

PacketNetwork::PacketNetwork(sc_core::sc_module_name name, const PacketConfig& config,
                             PacketTopology topology, const Segmentation& segmentation, LinkJoiner* joiner,
                             PacketWheel* wheel)
    : sc_module(name),
      config_(completed(config, topology, segmentation)),
      topology_(std::move(topology)),
      packet_flits_(segmentation.flits(segmentation.packet_bytes)) {
  check_network(config_, topology_, segmentation);
  if (wheel == nullptr) {
    own_wheel_ = std::make_unique<PacketWheel>("wheel");
    wheel = own_wheel_.get();
  }
  for (const LinkTiming& link : topology_.links) {
    for (const Ticks t : {link.latency, link.credit_latency, link.flit_time}) {
      if (t % config_.cycle != 0) on_cycle_ = false;
    }
  }
  routing_ =
      make_routing_policy(config_.routing.empty() ? topology_.routing : config_.routing, topology_, config_);
  const std::string selection = !config_.selection.empty() ? config_.selection
                                : routing_->adaptive()     ? "most_credits"
                                                           : topology_.selection;
  for (uint32_t r = 0; r < topology_.routers.size(); ++r) {
    const TopologyRouter& router = topology_.routers[r];
    std::vector<PortConfig> ports;
    for (uint32_t p = 0; p < router.ports.size(); ++p) {
      PortConfig port = port_config(router.ports[p], true);
      port.name = router.ports[p].ni ? std::string("ni") + std::to_string(p) : "port" + std::to_string(p);
      const TopologyPort& peer = router.ports[p];
      port.end = peer.ni || std::tie(r, p) < std::tie(peer.peer, peer.peer_port) ? LinkEnd::initiator
                                                                                 : LinkEnd::target;
      ports.push_back(port);
    }
    routers_.push_back(std::make_unique<Router>(
        router.name.c_str(), r, ports,
        RouterContext{config_, *routing_, selection, pool_, *wheel, topology_.ranks()}));
  }
  for (uint32_t n = 0; n < topology_.nis.size(); ++n) {
    const NiAttachment& at = topology_.nis[n];
    PortConfig port = port_config(topology_.routers[at.router].ports[at.port], false);
    port.name = "link";
    port.end = LinkEnd::target;
    const std::string ni_name = n < topology_.ranks()         ? fmt::format("ni_{}", n)
                                : at.rank < topology_.ranks() ? fmt::format("ni_{}_at{}", at.rank, at.port)
                                : at.rank >= topology_.first_guest
                                    ? fmt::format("guest_{}", at.rank - topology_.first_guest)
                                    : fmt::format("unit_{}_at{}", at.rank - topology_.ranks(), at.port);
    nis_.push_back(std::make_unique<NetworkInterface>(
        ni_name.c_str(), at.rank, port,
        InterfaceContext{config_, segmentation, pool_, messages_, *wheel,
                         topology_.guests ? topology_.guests.get() : topology_.ways.get()}));
    join(at.router, at.port, nis_[n]->port().target(), joiner);
  }
  for (uint32_t r = 0; r < topology_.routers.size(); ++r) {
    for (uint32_t p = 0; p < topology_.routers[r].ports.size(); ++p) {
      const TopologyPort& peer = topology_.routers[r].ports[p];
      if (peer.ni || !(std::tie(r, p) < std::tie(peer.peer, peer.peer_port))) continue;
      join(r, p, routers_[peer.peer]->port(peer.peer_port).target(), joiner);
    }
  }
}

PacketNetwork::~PacketNetwork() = default;

void PacketNetwork::join(uint32_t r, uint32_t p, fabric::fabric_target_socket& to, LinkJoiner* joiner) {
  fabric::fabric_initiator_socket& from = routers_[r]->port(p).initiator();
  if (joiner == nullptr) {
    from.bind(to);
    return;
  }
  const TopologyPort& port = topology_.routers[r].ports[p];
  const PortConfig link = port_config(port, true);
  const fabric::PacketLinkTerms terms{config_.total_vcs(), link.depth, link.latency, link.credit_latency};
  const Joint joint = joiner->join({topology_, r, p, terms, pool_, *this}, from, to);
  if (joint == Joint::bound) return;
  if (joint == Joint::block || joint == Joint::part) {
    // A block decides cycle by cycle: it tells of a flit when that leaves. What another process decides in a
    // window is told when that is over, and clocks that do not fit the kernel's are a picosecond off.
    Ticks told = std::min(link.latency, link.credit_latency);
    if (joint == Joint::part) {
      parted_ = true;
      told -= std::min(told - 1, lateness_of(terms) + 2 * kTicksPerPicosecond);
    }
    routers_[r]->limit_lookahead(told);
    if (port.ni) {
      nis_[port.peer]->limit_lookahead(told);
    } else {
      routers_[port.peer]->limit_lookahead(told);
    }
  }
  // Trains would go round it, on the way there and back.
  routers_[r]->port(p).set_cut();
  if (port.ni) {
    nis_[port.peer]->port().set_cut();
  } else {
    routers_[port.peer]->port(port.peer_port).set_cut();
  }
}

void PacketNetwork::record(vcd::ProbeHub& probes) {
  if (!probes.on()) return;
  for (auto& r : routers_) recorded_ = r->record(probes) || recorded_;
  for (auto& ni : nis_) recorded_ = ni->record(probes) || recorded_;
}

void PacketNetwork::record_link(vcd::ProbeHub& probes, const FlitSender& sender, const std::string& link,
                                const fabric::PacketPool* messages) {
  const bool any = sender.of_interface
                       ? nis_[sender.module]->record_link(probes, link, messages)
                       : routers_[sender.module]->record_link(probes, sender.port, link, messages);
  recorded_ = recorded_ || any;
}

// An interface can begin a message at any time. Where it is a cycle away, and all else is far, its router
// would decide one cycle at a time: but while the interface sends a packet nothing else comes from there.
void PacketNetwork::find_near() {
  constexpr Ticks kNearer = 4;  // times, than all others
  for (uint32_t r = 0; r < topology_.routers.size(); ++r) {
    std::vector<Router::Near> near;
    Ticks nearest = 0, others = kNever;
    bool cut = false;
    for (uint32_t p = 0; p < topology_.routers[r].ports.size(); ++p) {
      const TopologyPort& port = topology_.routers[r].ports[p];
      const PortConfig link = port_config(port, true);
      cut = cut || routers_[r]->port(p).cut();
      if (port.ni) {
        // Its credits come while this router runs: they answer what that sends.
        near.push_back({nis_[port.peer].get(), config_.cycle + link.latency});
        nearest = std::max(nearest, near.back().lookahead);
      } else {
        others = std::min(others, link.lookahead);
      }
    }
    if (!cut && !near.empty() && others != kNever && nearest < others / kNearer)
      routers_[r]->set_near(std::move(near), others);
  }
}

void PacketNetwork::end_of_elaboration() {
  for (uint32_t n = 0; n < nis_.size(); ++n) nis_[n]->set_notification_carrier(this, n);
  find_near();
  if (!config_.trains || config_.interleave_messages || recorded_ || routing_->adaptive()) return;
  if (config_.ecn.enabled) return;  // marks are drawn packet by packet
  trains_ = std::make_unique<PacketTrains>(topology_, routers_, nis_, messages_, pool_, config_.cycle);
  for (auto& r : routers_) r->set_trains(trains_.get());
  for (auto& ni : nis_) ni->set_trains(trains_.get());
}

PortConfig PacketNetwork::port_config(const TopologyPort& port, bool at_router) const {
  const LinkTiming& link = topology_.links[port.link];
  PortConfig result;
  result.latency = or_cycle(link.latency);
  result.credit_latency = link.credit_latency == 0 ? result.latency : link.credit_latency;
  result.flit_time = or_cycle(link.flit_time);
  result.flit_error = link.flit_error;
  const Ticks replay = link.replay == 0 ? result.latency + result.credit_latency : link.replay;
  result.replay = (replay + config_.cycle - 1) / config_.cycle * config_.cycle;
  result.on_cycle = on_cycle_;
  result.depth = config_.buffer_flits;
  result.peer_depth = config_.buffer_flits;
  if (link.pfc) {
    const uint32_t networks = config_.pfc.networks & low_networks(config_.virtual_networks);
    if (at_router) {
      const PfcThresholds at = pfc_thresholds(config_, link, port.ni, packet_flits_);
      result.pauses = networks;
      result.xoff = at.xoff;
      result.xon = at.xon;
    }
    if (!at_router || !port.ni) result.paused_by = networks;  // interfaces take everything
  }
  // Soonest effect of what the peer decides now: a credit or (at a router) a flit.
  const PipelineConfig& stages = config_.pipeline;
  const Ticks credit = config_.cycle + result.credit_latency;
  if (!at_router) {
    result.lookahead = credit;
  } else {
    const Ticks flit = port.ni ? config_.cycle + result.latency
                               : (stages.switch_alloc + stages.traversal) * config_.cycle + result.latency;
    result.lookahead = std::min(flit, credit + stages.credit * config_.cycle);
  }
  return result;
}

PacketNetwork::PfcFigures PacketNetwork::pfc() const {
  PfcFigures sum;
  const auto add = [&](bool pausable, const PauseAccount::Figures& figures, uint64_t overruns) {
    if (pausable) ++sum.senders;
    sum.pauses += figures.pauses;
    sum.paused += figures.time;
    sum.overruns += overruns;
  };
  for (const auto& r : routers_)
    for (uint32_t p = 0; p < r->ports(); ++p) add(r->paused_by(p) != 0, r->pauses(p), r->overruns(p));
  for (const auto& ni : nis_) add(ni->paused_by() != 0, ni->pauses(), ni->overruns());
  return sum;
}

void PacketNetwork::restart() {
  if (messages_in_flight() != 0 || packets_in_flight() != 0) {
    SC_REPORT_FATAL("weft/tlm_interconnect/packet",
                    fmt::format("{}: restarted with {} messages and {} packets on their way", name(),
                                messages_in_flight(), packets_in_flight())
                        .c_str());
  }
  const Ticks now = kernel_time();
  if (trains_) trains_->restart(now);
  for (auto& r : routers_) r->restart(now);
  for (auto& ni : nis_) ni->restart(now);
}

uint64_t PacketNetwork::flits_received() const {
  uint64_t n = 0;
  for (const auto& ni : nis_) n += ni->flits_received();
  if (trains_) n += trains_->flits_under_way();
  return n;
}

uint64_t PacketNetwork::flits_moved() const {
  uint64_t n = 0;
  for (const auto& ni : nis_) n += ni->flits_sent();
  for (const auto& r : routers_)
    for (uint32_t p = 0; p < r->ports(); ++p) n += r->flits_sent(p);
  return n;
}

// What was sent last takes effect everywhere within the time of its burst, of its way, and of the credit or
// the resume that comes back. A head may then wait, once, for its packet to come in without gaps.
Ticks PacketNetwork::longest_pause() const {
  Ticks burst = 0;
  Ticks way = 0;
  for (const LinkTiming& link : topology_.links) {
    const Ticks latency = or_cycle(link.latency);
    const Ticks back = link.credit_latency == 0 ? latency : link.credit_latency;
    burst = std::max(burst, packet_flits_ * or_cycle(link.flit_time));
    way = std::max(way, latency + back + (link.replay == 0 ? latency + back : link.replay));
  }
  const PipelineConfig& s = config_.pipeline;
  const Ticks stages = s.route + s.vc_alloc + s.switch_alloc + s.traversal + s.credit;
  return 2 * burst + way + config_.pfc.delay + (2 * stages + 8) * config_.cycle;
}

uint64_t PacketNetwork::packets_marked() const {
  uint64_t n = 0;
  for (const auto& r : routers_) {
    for (uint32_t p = 0; p < r->ports(); ++p) n += r->packets_marked(p);
  }
  return n;
}

uint64_t PacketNetwork::notifications() const {
  uint64_t n = 0;
  for (const auto& ni : nis_) n += ni->notifications_sent();
  return n;
}

// Notifications have the highest priority, and their few bytes are neglected.
void PacketNetwork::carry_notification(uint32_t from, const fabric::Packet& packet, Ticks at) {
  NetworkInterface& sender = *nis_[packet.interface];
  const Ticks way = unloaded_flit(from, packet.source, packet.virtual_network);
  // The sender has decided what it does within its lookahead.
  sender.notify(packet.destination, at + std::max(way, sender.lookahead()));
}

Ticks PacketNetwork::unloaded_flit(uint32_t from, uint32_t to, uint32_t virtual_network) const {
  const PipelineConfig& stages = config_.pipeline;
  const uint32_t cycles = stages.route + stages.vc_alloc + stages.switch_alloc + stages.traversal;
  uint32_t router = topology_.nis[from].router;
  uint32_t port = topology_.nis[from].port;
  uint32_t vc = virtual_network * config_.vcs;
  Ticks time = nis_[from]->flit_delay();
  std::vector<RouteCandidate> candidates;
  for (uint32_t hops = 0; hops <= 4 * topology_.routers.size(); ++hops) {
    candidates.clear();
    routing_->route({router, port, vc, topology_.nis[from].rank, to, virtual_network}, candidates);
    const TopologyPort& out = topology_.routers[router].ports[candidates[0].port];
    const LinkTiming& link = topology_.links[out.link];
    time += cycles * config_.cycle + or_cycle(link.latency) +
            std::max(or_cycle(link.flit_time), config_.cycle) - config_.cycle;
    if (out.ni) return time;
    vc = lowest_vc(candidates[0].vc_mask);
    router = out.peer;
    port = out.peer_port;
  }
  SC_REPORT_FATAL("weft/tlm_interconnect/packet",
                  fmt::format("{}: no way back from interface {} to rank {}", name(), from, to).c_str());
  return time;
}

uint64_t PacketNetwork::packet_hops() const {
  uint64_t n = 0;
  for (const auto& r : routers_) n += r->packets();
  return n;
}

uint64_t PacketNetwork::activations() const {
  uint64_t n = 0;
  for (const auto& r : routers_) n += r->activations();
  for (const auto& ni : nis_) n += ni->activations();
  return n;
}

std::string PacketNetwork::broken_invariant(bool drained) const {
  for (uint32_t r = 0; r < routers_.size(); ++r) {
    for (uint32_t p = 0; p < routers_[r]->ports(); ++p) {
      const TopologyPort& peer = topology_.routers[r].ports[p];
      for (uint32_t v = 0; v < config_.total_vcs(); ++v) {
        const uint32_t pending = peer.ni ? 0 : routers_[peer.peer]->pending(peer.peer_port, v);
        const int64_t credits = routers_[r]->credits(p, v);
        if (credits + pending != config_.buffer_flits) {
          return fmt::format("{} port {} VC {}: {} credits and {} flits do not make the buffer's {}",
                             topology_.routers[r].name, p, v, credits, pending, config_.buffer_flits);
        }
        if (drained && (routers_[r]->pending(p, v) != 0 || routers_[r]->holder(p, v) != ~0u)) {
          return fmt::format("{} port {} VC {}: not empty or still held at the end",
                             topology_.routers[r].name, p, v);
        }
      }
    }
  }
  uint64_t sent = 0;
  uint64_t received = 0;
  for (uint32_t n = 0; n < nis_.size(); ++n) {
    const NiAttachment& at = topology_.nis[n];
    sent += nis_[n]->flits_sent();
    received += nis_[n]->flits_received();
    for (uint32_t v = 0; v < config_.total_vcs(); ++v) {
      const uint32_t pending = routers_[at.router]->pending(at.port, v);
      if (nis_[n]->credits(v) + pending != config_.buffer_flits) {
        return fmt::format("NI {} VC {}: {} credits and {} flits do not make the buffer's {}", n, v,
                           nis_[n]->credits(v), pending, config_.buffer_flits);
      }
    }
  }
  if (parted_) sent = received;  // some go in here and come out elsewhere
  if (received > sent) return fmt::format("{} flits came out, {} went in", received, sent);
  if (drained && received != sent) return fmt::format("{} flits went in, {} came out", sent, received);
  if (drained && pool_.live() != 0) return fmt::format("{} packets are left", pool_.live());
  return {};
}

// What the packet at the front of one input buffer waits for, and the buffers it waits for in turn.
std::string PacketNetwork::describe(const Place& place, std::vector<Place>& waits_for) const {
  const Router& router = *routers_[place.router];
  const TopologyRouter& topology = topology_.routers[place.router];
  const Router::Waiting w = router.waiting(place.port, place.vc);
  const fabric::Packet& packet = pool_[w.packet];
  const auto end = [&](uint32_t rank) {
    if (topology_.ways) rank = topology_.ways->rank(rank);
    if (topology_.guests) rank = topology_.guests->rank(rank);
    if (rank < topology_.ranks()) return fmt::format("rank {}", rank);
    if (rank >= topology_.first_guest) return fmt::format("guest_{}", rank - topology_.first_guest);
    return "the unit of " + topology_.routers[topology_.units[rank - topology_.ranks()]].name;
  };
  std::string text = fmt::format(
      "{} input {} VC {}: packet {} from {} to {} ({} of {} flits sent on, {} flits "
      "here)",
      topology.name, place.port, place.vc, w.packet, end(packet.source), end(packet.destination), w.sent,
      w.packet_flits, w.flits_here);
  const TopologyPort& out = topology.ports[w.port];
  if (!w.holds_vc) {
    text += fmt::format(" waits for a VC of output {}, held by", w.port);
    for (uint32_t v = 0; v < config_.total_vcs(); ++v) {
      if (((w.vc_mask >> v) & 1) == 0) continue;
      const uint32_t holder = router.holder(w.port, v);
      if (holder == ~0u) continue;
      const uint32_t vcs = config_.total_vcs();
      text += fmt::format(" input {} VC {}", holder / vcs, holder % vcs);
      waits_for.push_back({place.router, holder / vcs, holder % vcs});
    }
  } else if (w.sent == 0 && router.paused(w.port, w.virtual_network)) {
    const std::string whom = fmt::format("{} input {}", topology_.routers[out.peer].name, out.peer_port);
    text += fmt::format(" has VC {} of output {}, which is paused by {} (virtual network {})", w.vc, w.port,
                        whom, w.virtual_network);
    // Until its buffers of this virtual network, whatever their VC, are down to XON.
    for (uint32_t v = 0; v < config_.vcs; ++v)
      waits_for.push_back({out.peer, out.peer_port, w.virtual_network * config_.vcs + v});
  } else if (router.credits(w.port, w.vc) <= 0 && !out.ni) {
    text += fmt::format(" has VC {} of output {} and waits for a credit of {} input {} VC {}", w.vc, w.port,
                        topology_.routers[out.peer].name, out.peer_port, w.vc);
    waits_for.push_back({out.peer, out.peer_port, w.vc});
  } else if (w.flits_here == 0) {
    const TopologyPort& in = topology.ports[place.port];
    if (in.ni) {
      text += " waits for flits of " + end(topology_.nis[in.peer].rank);
    } else {
      text += fmt::format(" waits for flits of {}", topology_.routers[in.peer].name);
      const uint32_t holder = routers_[in.peer]->holder(in.peer_port, place.vc);
      const uint32_t vcs = config_.total_vcs();
      if (holder != ~0u) waits_for.push_back({in.peer, holder / vcs, holder % vcs});
    }
  } else {
    text += fmt::format(" may go on through output {} VC {}", w.port, w.vc);
  }
  return text;
}

std::string PacketNetwork::explain_stall() const {
  if (pool_.live() == 0) return {};
  const uint32_t vcs = config_.total_vcs();
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
  std::map<Key, int> colour;  // 1: on the path, 2: done
  std::vector<Place> path;
  std::vector<Place> cycle;
  // Depth first along "waits for", without recursion: chains can be as long as the network.
  struct Frame {
    std::vector<Place> next;
    size_t at = 0;
  };
  uint64_t waiting = 0;
  Place first{};
  for (uint32_t r = 0; r < routers_.size(); ++r) {
    for (uint32_t p = 0; p < routers_[r]->ports(); ++p) {
      for (uint32_t v = 0; v < vcs; ++v) {
        if (routers_[r]->waiting(p, v).packet == fabric::kNoPacket) continue;
        if (waiting++ == 0) first = {r, p, v};
        if (!cycle.empty() || colour[{r, p, v}] != 0) continue;
        std::vector<Frame> stack(1);
        describe({r, p, v}, stack.back().next);
        path = {{r, p, v}};
        colour[{r, p, v}] = 1;
        while (!stack.empty() && cycle.empty()) {
          Frame& frame = stack.back();
          if (frame.at == frame.next.size()) {
            colour[{path.back().router, path.back().port, path.back().vc}] = 2;
            path.pop_back();
            stack.pop_back();
            continue;
          }
          const Place next = frame.next[frame.at++];
          const Key key{next.router, next.port, next.vc};
          if (routers_[next.router]->waiting(next.port, next.vc).packet == fabric::kNoPacket) continue;
          if (colour[key] == 2) continue;
          if (colour[key] == 1) {
            auto begin = std::find_if(path.begin(), path.end(), [&](const Place& q) {
              return q.router == next.router && q.port == next.port && q.vc == next.vc;
            });
            cycle.assign(begin, path.end());
            break;
          }
          colour[key] = 1;
          path.push_back(next);
          stack.emplace_back();
          describe(next, stack.back().next);
        }
      }
    }
  }
  std::string text =
      fmt::format("{} packets are in the network, {} input buffers wait.\n", pool_.live(), waiting);
  std::vector<Place> ignored;
  if (cycle.empty()) {
    if (waiting > 0) text += "No cycle; the first: " + describe(first, ignored) + "\n";
    return text;
  }
  text += fmt::format("Deadlock: a cycle of {} buffers, each waiting for the next:\n", cycle.size());
  for (const Place& place : cycle) text += "  " + describe(place, ignored) + "\n";
  return text + deadlock_remedy(topology_, config_) + "\n";
}

}  // namespace weft::packet
