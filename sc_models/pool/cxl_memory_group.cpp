// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/cxl_memory_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sc_models/message_time.h"
#include "sc_models/pool/pool_causes.h"
#include "sc_models/pool/pool_data.h"

namespace weft {
namespace {

/// Bytes that a group reads ahead of its links: more than any memory's bandwidth times its latency.
constexpr uint64_t kReadAhead = 256 << 10;
/// Chunks that wait at a link at packet fidelity. They are of different NPUs, and one that is busy is not to
/// stop the link.
constexpr uint64_t kChunksAtLink = 16;
/// Bytes of stores that are on their way to a link at packet fidelity, at least: the next chunks begin while
/// one comes.
constexpr uint64_t kGranted = 8 << 10;

}  // namespace

CxlMemoryGroup::CxlMemoryGroup(sc_core::sc_module_name name, uint32_t group, PoolContext& context,
                               const std::vector<fabric::LinkType*>& types,
                               const std::vector<fabric::Link*>& shared, fabric::LinkType& service)
    : sc_core::sc_module(name),
      group_(group),
      node_(context.layout.group_node(group)),
      context_(context),
      hop_(context.layout.group_hop() || context.pool.group_memory != kDefaultMemoryModel),
      ports_(types.size()),
      read_(service),
      write_(service),
      waiting_(types.size()),
      turns_(types.size()) {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    port.owner = this;
    port.number = p;
    port.link = fabric::Link(*types[p]);
    port.shared = shared[p];
    if (context.net != nullptr) {  // groups begin at switches of their own
      port.served = (p + ports_.size() - group % ports_.size()) % ports_.size();
      Picoseconds way = 0;  // what the link carries while a chunk is on its way
      for (const pool::PoolLayout::Class& c : context.layout.classes()) way += c.latency;
      const double rate =
          context.layout.rate(context.layout.links()[context.layout.ports(node_)[p].link]).value();
      const uint64_t ahead = std::max(kGranted, context.pool.chunk);
      port.most_granted = ahead + static_cast<uint64_t>(2 * rate * static_cast<double>(way) * 1e-12);
      port.picoseconds_a_byte = 1e12 / rate;
      port.ahead = port.time_of(ahead);
      continue;
    }
    port.target = std::make_unique<fabric::fabric_target_socket>(("g" + std::to_string(p)).c_str());
    port.target->bind(static_cast<fabric::fabric_fw_if&>(port));
  }
  rounds_ = ports_.size();
  if (context.pool.group_memory != kDefaultMemoryModel) {
    ModuleChoices::Chosen model{context.pool.group_memory, "memory.pool.group_memory"};
    if (context.choices != nullptr)
      model = context.choices->of(ModuleKind::memory, group_memory_name(context.layout, group), model);
    memory_ = std::make_unique<GroupMemory>(
        context.config, model, context.data != nullptr,
        [this](uint32_t message, Picoseconds at) { memory_done(message, at); }, context.probes);
  }
  if (context.causes != nullptr) keep_causes();
  if (context.probes != nullptr) declare_signals(*context.probes);
  if (context.net != nullptr) context.net->attach(node_, *this);
  context.wheel.add(*this);
}

uint32_t CxlMemoryGroup::add(Load load) {
  uint32_t number = static_cast<uint32_t>(loads_.size());
  if (free_.empty()) {
    loads_.push_back(std::move(load));
  } else {
    number = free_.back();
    free_.pop_back();
    loads_[number] = std::move(load);
  }
  return number;
}

void CxlMemoryGroup::load(PoolTransfer& transfer, Picoseconds at, const pool::PoolLayout::Share& share) {
  if (share.bytes == 0) return;
  Load load;
  load.transfer = transfer.id;
  load.npu = transfer.npu;
  load.all = in_switch(transfer.operation);
  load.way = share.way;
  load.offset = static_cast<uint64_t>(share.offset);
  load.left = static_cast<uint64_t>(share.bytes);
  requests_.push(at, static_cast<uint64_t>(transfer.npu) << 32 | arrivals_++, add(std::move(load)));
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::load(PoolTransfer& transfer, Picoseconds at, std::vector<Chunk> chunks) {
  if (chunks.empty()) return;
  Load load;
  load.transfer = transfer.id;
  load.npu = transfer.npu;
  load.chunks = std::move(chunks);
  requests_.push(at, static_cast<uint64_t>(transfer.npu) << 32 | arrivals_++, add(std::move(load)));
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::gather(PoolTransfer& transfer, Picoseconds at, std::vector<uint32_t> numbers) {
  if (numbers.empty()) return;
  Load load;
  load.transfer = transfer.id;
  load.all = true;
  for (const uint32_t number : numbers) load.chunks.push_back({number, transfer.chunks[number].way});
  requests_.push(at, arrivals_++, add(std::move(load)));
  if (!running()) wake_at(at);
}

// Chunks of one link come one after the other, whoever has them: what is on its way does not fill the buffers
// of routers, where it would stand in front of what goes to other links. A link lets chunks begin no faster
// than it carries them: over long links many are on their way, and they are not to begin all at once.
void CxlMemoryGroup::asked(uint32_t port, fabric::PacketRef message) {
  const fabric::Packet& packet = context_.packets[message];
  ports_[port].asked.emplace(static_cast<uint64_t>(PoolHeader::of(packet).chunk) << 32 | packet.source,
                             message);
  if (!running()) wake_at(sc_core::sc_time_stamp().value());
}

Picoseconds CxlMemoryGroup::grant(Port& port, Picoseconds now) {
  while (!port.asked.empty() && port.granted < port.most_granted) {
    const fabric::PacketRef next = port.asked.begin()->second;
    const uint64_t bytes = context_.packets[next].bytes;
    const Picoseconds due = std::max(port.due, now) + port.time_of(bytes);
    if (port.due > now && due > now + port.ahead) return due - port.ahead;
    port.due = due;
    port.asked.erase(port.asked.begin());
    port.granted += bytes;
    context_.net->grant(next);
  }
  return kNever;
}

void CxlMemoryGroup::came(uint32_t port, fabric::PacketRef message, Picoseconds at) {
  const fabric::Packet& packet = context_.packets[message];
  if (context_.net != nullptr && PoolHeader::of(packet).kind == PoolMessage::single) {
    const uint32_t by = context_.net->group_port(packet);
    grants_over_.push(at, static_cast<uint64_t>(by) << 32 | arrivals_++, {by, packet.bytes});
    if (!running()) wake_at(at);
  }
  if (!hop_) {
    take(message, at);
    return;
  }
  stores_.push(at, static_cast<uint64_t>(port) << 32 | arrivals_++, {message});
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::left(uint32_t port, const fabric::Packet& message, Picoseconds at) {
  departures_.push(at, static_cast<uint64_t>(port) << 32 | arrivals_++, {port, message.bytes});
  if (!running()) wake_at(at);
}

void CxlMemoryGroup::take(fabric::PacketRef ref, Picoseconds at) {
  const fabric::Packet& packet = context_.packets[ref];
  const PoolHeader header = PoolHeader::of(packet);
  PoolTransfer& transfer = context_.events.transfer(header.transfer);
  if (context_.data != nullptr) context_.data->write(transfer, header.offset, packet.data);
  const uint64_t bytes = packet.bytes;
  if (context_.causes != nullptr) context_.causes->stored(transfer, ref, at);
  context_.packets.release(ref);
  if (probes_) {
    probes_->stored_bytes += bytes;
    tell(sc_core::sc_time_stamp().value());
  }
  context_.events.stored(transfer, bytes, at);
}

/// The group itself is a stage: its service, or the memory behind it.
void CxlMemoryGroup::keep_causes() {
  insight::CausalLog& log = context_.causes->log();
  if (memory_ != nullptr) return memory_->keep_causes(log);
  if (!hop_) return;
  for (fabric::Link* const service : {&read_, &write_}) {
    causes_.push_back(std::make_unique<LinkCauses>(log, name(), "pool groups", nullptr));
    service->observe(causes_.back().get());
  }
}

insight::CausalLog* CxlMemoryGroup::log() {
  return context_.causes == nullptr ? nullptr : &context_.causes->log();
}

insight::AccessPart* CxlMemoryGroup::part(fabric::PacketRef ref) {
  return context_.causes == nullptr ? nullptr : &context_.causes->part(ref);
}

unsigned char* CxlMemoryGroup::bytes_of(fabric::PacketRef ref) {
  return context_.data == nullptr ? nullptr : context_.data->bytes(context_.packets[ref].data);
}

void CxlMemoryGroup::write(fabric::PacketRef ref, Picoseconds now) {
  const fabric::Packet& packet = context_.packets[ref];
  const insight::OnBehalf behalf(log(), part(ref));
  if (memory_ == nullptr) {
    message_in_time(name(), packet, [&] { take(ref, write_.occupy(now, packet.bytes).end); });
    return;
  }
  ++writing_;
  stored_ += packet.bytes;
  memory_->start(ref, true, bytes_of(ref), packet.bytes);
}

void CxlMemoryGroup::memory_done(fabric::PacketRef ref, Picoseconds at) {
  if (insight::AccessPart* const own = part(ref); own != nullptr) {
    own->last = log()->take_answer();
    own->came = at;
  }
  if (reading_.count(ref) == 0) {
    --writing_;
    take(ref, at);
    return;
  }
  fetched_.push(at, arrivals_++, {ref});
  if (!running()) wake_at(at);
}

Picoseconds CxlMemoryGroup::service_free() const {
  if (memory_ != nullptr) return read_bytes_ < std::max(kReadAhead, 2 * context_.pool.chunk) ? 0 : kNever;
  if (hop_) return read_.free_at();
  return context_.net != nullptr ? 0 : ports_.front().sends().free_at();
}

bool CxlMemoryGroup::serve(Picoseconds now) {
  if (service_free() > now) return false;
  const uint32_t port = next_port();
  if (port == kNone) return false;
  ports_[port].served = ++rounds_;
  if (whole())
    serve_chunk(now, port);
  else
    serve_round(now, port);
  return true;
}

fabric::Link::Slot CxlMemoryGroup::serve_bytes(Picoseconds now, uint64_t bytes, Port& port) {
  if (memory_ != nullptr) return {now, now};
  const insight::OnBehalf behalf(log(), &serving_);
  const Picoseconds from = hop_ ? read_.occupy(now, bytes).end : now;
  if (context_.net != nullptr) return {from, from};
  return port.sends().occupy(from, bytes);
}

void CxlMemoryGroup::activate(Picoseconds now) {
  ++activations_;
  while (stores_.next() <= now) write(stores_.pop().payload.packet, now);
  while (fetched_.next() <= now) {
    const fabric::PacketRef ref = fetched_.pop().payload.packet;
    Port& port = ports_[reading_.at(ref)];
    const uint64_t bytes = context_.packets[ref].bytes;
    reading_.erase(ref);
    read_bytes_ -= bytes;
    port.reading -= bytes;
    fabric::Link::Slot slot{now, now};
    const insight::OnBehalf behalf(log(), part(ref));
    if (context_.net == nullptr)
      message_in_time(name(), context_.packets[ref], [&] { slot = port.sends().occupy(now, bytes); });
    leave(ref, slot, port);
  }
  while (requests_.next() <= now) {
    const uint32_t number = requests_.pop().payload;
    Load& load = loads_[number];
    if (whole()) {
      for (const Chunk& chunk : load.chunks)
        turns_[port_of(chunk.way)].push({turn_ + chunk.number, load.npu, number, chunk});
      turns_waiting_ += load.chunks.size();
      load.unserved = load.chunks.size();
      load.chunks = {};
    } else {
      waiting_[port_of(load.way)].push_back(number);
    }
  }
  while (departures_.next() <= now) {
    const Departure gone = departures_.pop().payload;
    ports_[gone.port].backlog -= gone.bytes;
  }
  while (grants_over_.next() <= now) {
    const Departure over = grants_over_.pop().payload;
    ports_[over.port].granted -= over.bytes;
  }
  Picoseconds grants = kNever;
  for (Port& port : ports_) grants = std::min(grants, grant(port, now));
  while (serve(now)) {
  }
  Picoseconds next = std::min(
      {grants, grants_over_.next(), stores_.next(), requests_.next(), departures_.next(), fetched_.next()});
  if (next_port() != kNone) next = std::min(next, std::max(now, service_free()));
  if (probes_) tell(now);
  wake_at(next);
}

void CxlMemoryGroup::declare_signals(vcd::ProbeHub& probes) {
  const std::string prefix = name();
  probes_ = std::make_unique<Probes>();
  probes_->requests = probes.number(prefix + ".requests", 32);
  probes_->data = probes.number(prefix + ".data", 64);
  probes_->loaded = probes.number(prefix + ".loaded", 64);
  probes_->stored = probes.number(prefix + ".stored", 64);
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    const std::string port = fmt::format("{}.port{}", prefix, p);
    Probes::OfPort& of = probes_->ports.emplace_back();
    of.queue = probes.number(port + ".queue", 32);
    of.data = probes.number(port + ".data", 64);
    if (context_.net != nullptr) of.credits = probes.number(port + ".credits", 64);
  }
  tell(0);
}

void CxlMemoryGroup::tell(Picoseconds now) {
  uint64_t requests = turns_waiting_;
  for (const auto& waiting : waiting_) requests += waiting.size();
  probes_->requests.set(now, requests);
  // At packet fidelity what is read for a link is in its backlog already.
  uint64_t data = context_.net != nullptr ? 0 : read_bytes_;
  for (const Port& port : ports_) data += port.backlog;
  probes_->data.set(now, data);
  probes_->loaded.set(now, probes_->loaded_bytes);
  probes_->stored.set(now, probes_->stored_bytes);
  for (uint32_t p = 0; p < probes_->ports.size(); ++p) {
    const Port& port = ports_[p];
    const Probes::OfPort& of = probes_->ports[p];
    of.queue.set(now, whole() ? turns_[p].size() : waiting_[p].size());
    of.data.set(now, context_.net != nullptr ? port.backlog : port.reading);
    of.credits.set(now, port.most_granted - std::min(port.most_granted, port.granted));
  }
}

uint32_t CxlMemoryGroup::port_of(uint32_t way) const {
  return context_.layout.next(node_, 0, way);
}

/// A round: a chunk of each link, in equal parts of the loads that wait.
void CxlMemoryGroup::serve_round(Picoseconds now, uint32_t port_number) {
  Port& port = ports_[port_number];
  std::vector<uint32_t>& waiting = waiting_[port_number];
  Wide all = 0;
  uint64_t least = ~uint64_t{0};
  uint64_t most = 0;
  for (const uint32_t number : waiting) {
    const uint64_t left = loads_[number].left;
    all += left;
    least = std::min(least, left);
    most = std::max(most, left);
  }
  const Wide room = static_cast<Wide>(context_.layout.round_links()) * context_.pool.chunk;
  const Wide rounds = (all + room - 1) / room;
  auto budget = static_cast<uint64_t>((all + rounds - 1) / rounds);
  // Those with little left first: what they do not need is the others'.
  std::vector<uint32_t> order = waiting;
  if (least != most)
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return loads_[a].left < loads_[b].left; });
  std::vector<uint64_t> parts(loads_.size());
  uint64_t total = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t share = (budget + (order.size() - i) - 1) / (order.size() - i);
    const uint64_t part = std::min(loads_[order[i]].left, share);
    parts[order[i]] = part;
    budget -= std::min(budget, part);
    total += part;
  }
  for (const uint32_t number : waiting) {  // what comes last lets the round begin, if the service is free
    const insight::AccessPart& of_load = context_.events.transfer(loads_[number].transfer).part;
    if (number == waiting.front() || of_load.came > serving_.came) serving_ = of_load;
  }
  const std::string first =
      context_.events.transfer(loads_[waiting.front()].transfer).operation == PoolOperation::gather_load
          ? "gather_load"
          : "load";
  const fabric::Link::Slot slot = in_time(
      [&] { return serve_bytes(now, total, port); },
      [&] { return fmt::format("{}: a round of {} B of a {}", name(), total, first); }, kMessageRemedy);
  // Groups and their links begin at NPUs of their own: packets for one NPU from all of them would block each
  // other.
  const size_t from = context_.net == nullptr
                          ? 0
                          : (uint64_t{group_} * ports_.size() + port_number) * waiting.size() /
                                (context_.layout.groups() * ports_.size());
  for (size_t i = 0; i < waiting.size(); ++i) {
    const uint32_t number = waiting[(from + i) % waiting.size()];
    Load& load = loads_[number];
    const uint64_t part = parts[number];
    if (part == 0) continue;
    send(load, load.offset, part, load.rounds++, load.way, slot, port);
    load.offset += part;
    load.left -= part;
  }
  std::vector<uint32_t> still;
  for (const uint32_t number : waiting) (loads_[number].left != 0 ? still : free_).push_back(number);
  waiting = std::move(still);
}

void CxlMemoryGroup::serve_chunk(Picoseconds now, uint32_t number) {
  const Turn turn = turns_[number].top();
  turns_[number].pop();
  --turns_waiting_;
  turn_ = std::max(turn_, turn.key);
  Load& load = loads_[turn.load];
  const Chunk chunk = turn.chunk;
  const PoolTransfer& transfer = context_.events.transfer(load.transfer);
  uint64_t offset = chunk.number * context_.pool.chunk;
  uint64_t bytes = 0;
  if (load.all) {
    offset = transfer.chunks[chunk.number].offset;
    bytes = transfer.chunks[chunk.number].bytes;
  } else {
    bytes = std::min(context_.pool.chunk, transfer.bytes - offset);
  }
  Port& port = ports_[number];
  serving_ = transfer.part;
  const fabric::Link::Slot slot = in_time([&] { return serve_bytes(now, bytes, port); },
                                          [&] {
                                            return fmt::format("{}: a chunk of {} B of a {}", name(), bytes,
                                                               to_string(transfer.operation));
                                          },
                                          kMessageRemedy);
  send(load, offset, bytes, chunk.number, chunk.way, slot, port);
  if (--load.unserved == 0) free_.push_back(turn.load);
}

uint32_t CxlMemoryGroup::next_port() const {
  uint32_t best = kNone;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    if (!has_work(p)) continue;
    if (context_.net != nullptr && ports_[p].backlog >= kChunksAtLink * context_.pool.chunk) continue;
    if (best == kNone || before(p, best)) best = p;
  }
  return best;
}

bool CxlMemoryGroup::before(uint32_t a, uint32_t b) const {
  if (context_.net != nullptr) {
    if (ports_[a].backlog != ports_[b].backlog) return ports_[a].backlog < ports_[b].backlog;
    if (!whole()) return ports_[a].served < ports_[b].served;
    return turns_[b].top() > turns_[a].top();
  }
  if (ports_[a].reading != ports_[b].reading) return ports_[a].reading < ports_[b].reading;
  const Picoseconds free = ports_[a].sends().free_at();
  const Picoseconds other = ports_[b].sends().free_at();
  return free < other || (free == other && whole() && turns_[b].top() > turns_[a].top());
}

void CxlMemoryGroup::send(Load& load, uint64_t offset, uint64_t bytes, uint32_t chunk, uint32_t way,
                          const fabric::Link::Slot& slot, Port& port) {
  PoolHeader header;
  header.transfer = load.transfer;
  header.chunk = chunk;
  header.way = way;
  header.offset = offset;
  header.kind = load.all ? PoolMessage::gather : PoolMessage::single;
  const fabric::PacketRef ref =
      make_pool_message(context_, header, node_, load.all ? kAllNpus : load.npu, bytes);
  if (context_.data != nullptr)
    context_.packets[ref].data = context_.data->read(context_.events.transfer(load.transfer), offset, bytes);
  if (context_.causes != nullptr) context_.causes->part(ref) = serving_;
  if (probes_) probes_->loaded_bytes += bytes;
  if (context_.net != nullptr) port.backlog += bytes;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (memory_ == nullptr && (context_.net == nullptr || slot.start == now)) {
    leave(ref, slot, port);
    return;
  }
  loaded_ += bytes;
  reading_[ref] = port.number;
  read_bytes_ += bytes;
  port.reading += bytes;
  if (memory_ != nullptr) {
    const insight::OnBehalf behalf(log(), part(ref));
    memory_->start(ref, false, bytes_of(ref), bytes);
  } else {  // an interface does not go round a message that is not there yet
    fetched_.push(slot.start, arrivals_++, {ref});
  }
}

void CxlMemoryGroup::leave(fabric::PacketRef ref, const fabric::Link::Slot& slot, Port& port) {
  if (context_.net != nullptr) {
    context_.net->send(node_, port.number, ref, slot.start);
    return;
  }
  if (insight::AccessPart* const own = part(ref); own != nullptr)
    own->came = slot.end + port.sends().latency();
  fabric::Transfer transfer;
  transfer.leave(slot.start, port.sends().latency(), slot.end - slot.start);
  transfer.packet = ref;
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  (*port.target)->nb_transport_bw(transfer, phase, zero);
}

void CxlMemoryGroup::count(Counters& counters) const {
  counters.activations += activations_;
  for (const Port& port : ports_) counters.in_flight += port.asked.size();
  counters.in_flight += stores_.size() + turns_waiting_ + requests_.size() + reading_.size() + writing_;
  if (memory_ != nullptr) counters.activations += memory_->target().activations();
  for (const auto& waiting : waiting_) counters.in_flight += waiting.size();
  for (const Port& port : ports_) {
    counters.link_bytes += port.link.bytes();
    counters.link_messages += port.link.messages();
  }
}

std::string CxlMemoryGroup::stall_text() const {
  size_t held = turns_waiting_;
  for (const auto& waiting : waiting_) held += waiting.size();
  held += reading_.size();
  return held == 0 ? std::string() : fmt::format("{}: {} loads are not served\n", name(), held);
}

}  // namespace weft
