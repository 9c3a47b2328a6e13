// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/packet_trains.h"

#include <algorithm>

namespace weft::packet {
namespace {

constexpr uint64_t kShortest = 16;    ///< packets for which a train is worth while
constexpr uint64_t kFirstTry = 2;     ///< packets begun before the first record
constexpr uint64_t kRetry = 16;       ///< packets to wait after a disturbance
constexpr uint64_t kFirstWindow = 8;  ///< doubles until a period fits
constexpr uint64_t kLongestWindow = 4096;

}  // namespace

PacketTrains::PacketTrains(const PacketTopology& topology,
                           const std::vector<std::unique_ptr<Router>>& routers,
                           const std::vector<std::unique_ptr<NetworkInterface>>& nis, MessagePool& messages,
                           Ticks cycle)
    : topology_(topology),
      routers_(routers),
      nis_(nis),
      messages_(messages),
      cycle_(cycle),
      trains_(nis.size()) {}

PacketTrains::~PacketTrains() = default;

// The present as the modules see it: in the middle of an activation the cycle that it is for.
Ticks PacketTrains::now() const {
  if (cycle_ % kTicksPerPicosecond == 0) return kernel_time();
  return (kernel_decided() + cycle_ - 1) / cycle_ * cycle_;
}

bool PacketTrains::carry(NetworkInterface& ni, uint32_t virtual_network, Ticks t) {
  const NetworkInterface::Progress progress = ni.progress(virtual_network);
  std::unique_ptr<Train>& slot = trains_[ni.number()];
  if (slot && slot->phase == Phase::resuming) {
    ++slot->begun;
    return false;
  }
  // All but the last packet of a message are alike; the last one goes by itself.
  const uint64_t left = (progress.bytes - progress.cut - 1) / progress.packet_bytes;
  if (left < kShortest || progress.bytes == progress.cut) {
    if (slot && slot->phase != Phase::idle) forget(*slot);
    return false;
  }
  if (!slot) slot = std::make_unique<Train>();
  Train& train = *slot;
  if (train.message != progress.message || train.virtual_network != virtual_network || progress.cut == 0) {
    if (train.phase != Phase::idle) forget(train);
    train.message = progress.message;
    train.virtual_network = static_cast<uint8_t>(virtual_network);
    train.from = &ni;
    train.begun = 0;
    train.next_try = kFirstTry;
    train.window = kFirstWindow;
    train.path.clear();
  }
  ++train.begun;
  if (train.phase == Phase::idle) {
    if (train.begun < train.next_try) return false;
    if (train.path.empty()) {
      if (!find_path(train, messages_[progress.message].message)) {
        train.next_try = ~uint64_t{0};
        return false;
      }
      const uint64_t first = packets_until_full(train);
      if (train.begun < first) {
        train.next_try = left < first - train.begun + kShortest ? ~uint64_t{0} : first;
        return false;
      }
    }
    if (!ni.sends_nothing_else(virtual_network) || !exclusive(train)) {
      train.next_try = train.begun + kRetry;
      return false;
    }
    for (const Hop& hop : train.path) hop.router->reserve(hop.input, hop.output, ni.number());
    train.phase = Phase::observed;
    observe(train, t);
    return false;
  }
  write_sender(train, t);
  if (state_.words().size() == train.sender_words &&
      std::equal(state_.words().begin(), state_.words().end(), train.record.begin())) {
    write_path(train);
    if (state_.words() == train.record) {
      const uint64_t packets = train.begun - train.packet_of_record;
      // A last packet that is shorter needs fewer credits to begin, where it needs them all.
      const uint64_t countable = (std::max(t, ticks(kLongestTickTime)) - t) / (t - train.time_of_record);
      const uint64_t repeats =
          std::min((ni.begins_with_all_credits() ? left - 1 : left) / packets, countable);
      if (packets * repeats < kShortest) return false;
      set_aside(train, t, packets, repeats);
      return true;
    }
  }
  if (train.begun - train.packet_of_record >= train.window) {
    train.window = std::min(2 * train.window, kLongestWindow);
    observe(train, t);
  }
  return false;
}

// The ports on the way, if it is certain.
bool PacketTrains::find_path(Train& train, const Message& message) {
  train.path.clear();
  train.to = nullptr;
  const NiAttachment& at = topology_.nis[train.from->number()];
  uint32_t router = at.router;
  uint32_t input = at.port;
  uint32_t mask = routers_[router]->vc_mask(message.virtual_network);
  while (train.path.size() <= topology_.routers.size()) {
    uint32_t output = ~0u;
    uint32_t next_mask = 0;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const RouteQuery query{router,
                             input,
                             static_cast<uint32_t>(__builtin_ctz(m)),
                             message.source,
                             message.destination,
                             message.virtual_network};
      RouteCandidate route{};
      if (!routers_[router]->certain_route(query, route)) return false;
      if (output != ~0u && route.port != output) return false;
      output = route.port;
      next_mask |= route.vc_mask;
    }
    train.path.push_back({routers_[router].get(), input, output, 0});
    const TopologyPort& port = topology_.routers[router].ports[output];
    if (port.ni) {
      train.to = nis_[port.peer].get();
      return train.to->rank() == message.destination && train.to->takes_trains();
    }
    router = port.peer;
    input = port.peer_port;
    mask = next_mask;
  }
  return false;
}

// Until the first credits of the longest loop are back nothing can repeat: what is on its way only grows.
uint64_t PacketTrains::packets_until_full(const Train& train) const {
  const NiAttachment& at = topology_.nis[train.from->number()];
  Ticks head = 0;
  Ticks full = 0;
  const auto pass = [&](uint32_t link) {
    const LinkTiming& timing = topology_.links[link];
    const Ticks credit = timing.credit_latency != 0 ? timing.credit_latency : timing.latency;
    full = std::max(full, head + timing.latency + credit);
    head += timing.latency;
  };
  const uint32_t first_link = topology_.routers[at.router].ports[at.port].link;
  pass(first_link);
  for (const Hop& hop : train.path) pass(topology_.routers[hop.router->id()].ports[hop.output].link);
  const Ticks flit = std::max(topology_.links[first_link].flit_time, train.from->cycle_time());
  return full / (flit * train.from->packet_flits_of_trains());
}

bool PacketTrains::exclusive(const Train& train) const {
  return std::all_of(train.path.begin(), train.path.end(), [&](const Hop& hop) {
    return hop.router->exclusive(hop.input, hop.output, train.message);
  });
}

void PacketTrains::observe(Train& train, Ticks t) {
  write_sender(train, t);
  train.sender_words = state_.words().size();
  write_path(train);
  train.record = state_.words();
  train.packet_of_record = train.begun;
  train.time_of_record = t;
  train.bursts.clear();
  train.to->record_arrivals(&train.bursts);
}

void PacketTrains::forget(Train& train) {
  for (const Hop& hop : train.path) hop.router->release(hop.input, hop.output);
  train.to->record_arrivals(nullptr);
  train.phase = Phase::idle;
  train.next_try = train.begun + kRetry;
  train.window = kFirstWindow;
}

void PacketTrains::write_sender(const Train& train, Ticks t) {
  state_.begin(now(), t);
  train.from->write_sender(state_);
}

void PacketTrains::write_path(const Train& train) {
  for (const Hop& hop : train.path) hop.router->write_state(hop.input, hop.output, state_);
  train.to->write_receiver(state_);
}

void PacketTrains::set_aside(Train& train, Ticks t, uint64_t packets, uint64_t repeats) {
  train.since = now();
  train.first = t;
  train.period = t - train.time_of_record;
  train.packets = packets;
  train.repeats = repeats;
  train.phase = Phase::carried;
  train.to->record_arrivals(nullptr);
  for (Hop& hop : train.path) hop.undecided = hop.router->set_aside(hop.input, train.since);
  train.from->set_aside(train.since + train.repeats * train.period);
  ++counters_.trains;
}

bool PacketTrains::disturb(uint32_t ni) {
  Train* train = trains_[ni].get();
  if (train == nullptr || train->phase == Phase::idle) return false;
  if (train->phase == Phase::carried) return true;
  // At once: the other packet may go on along this path to where another train is.
  forget(*train);
  return false;
}

void PacketTrains::resume(uint32_t ni) {
  if (!trains_[ni] || trains_[ni]->phase != Phase::carried) return;
  Train& train = *trains_[ni];
  const Ticks present = now();
  // Whole periods, but nothing that a router had decided ahead may be moved beyond now: somebody else takes
  // part in these cycles.
  Ticks undecided = train.since;
  for (const Hop& hop : train.path) undecided = std::max(undecided, hop.undecided);
  const uint64_t passed =
      present < undecided ? 0 : std::min(train.repeats, (present - undecided) / train.period);
  const Ticks shift = passed * train.period;
  const uint64_t packets = passed * train.packets;
  counters_.splits += present < train.since + train.repeats * train.period;
  counters_.packets += packets;
  counters_.hops += packets * train.path.size();

  if (passed > 0) {
    const uint64_t flits = packets * train.from->packet_flits_of_trains();
    train.from->shift_sender(shift, train.virtual_network, packets);
    for (const Hop& hop : train.path) hop.router->shift(hop.input, hop.output, shift, packets, flits);
    MessagePool::Open& open = messages_[train.message];
    open.left -= packets;
    open.last += shift;
    train.to->arrived_by_train(open.message, train.from->packet_flits_of_trains(), train.bursts, train.period,
                               passed);
  }

  train.phase = Phase::resuming;
  // What has begun of the next period, in the order of time, on these ports only.
  for (const Hop& hop : train.path) hop.router->begin_replay(hop.input, hop.undecided + shift);
  train.from->begin_replay(train.first + shift);
  for (;;) {
    Ticks soonest = train.from->next_cycle();
    Router* router = nullptr;
    if (soonest >= present) soonest = kNever;
    for (const Hop& hop : train.path) {
      const Ticks t = hop.router->next_cycle();
      // Its other ports may have been decided for a while beyond now.
      if (t < soonest && t < std::max(present, hop.router->decided())) {
        soonest = t;
        router = hop.router;
      }
    }
    if (soonest == kNever) break;
    if (router != nullptr) {
      router->replay_cycle();
    } else {
      train.from->replay_cycle();
    }
  }
  for (const Hop& hop : train.path) hop.router->end_replay(hop.input);
  train.from->end_replay();
  forget(train);
}

void PacketTrains::resume_all() {
  for (uint32_t ni = 0; ni < trains_.size(); ++ni) resume(ni);
}

uint64_t PacketTrains::flits_under_way() const {
  uint64_t flits = 0;
  for (const auto& train : trains_) {
    if (!train || train->phase != Phase::carried) continue;
    const uint64_t passed = std::min(train->repeats, (kernel_time() - train->since) / train->period);
    flits += passed * train->packets * train->from->packet_flits_of_trains();
  }
  return flits;
}

}  // namespace weft::packet
