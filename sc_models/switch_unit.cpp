// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/switch_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_models/message_bits.h"
#include "sc_models/message_time.h"
#include "workload/collectives/elements.h"

namespace weft {
namespace {

fabric::CollectiveUnit::Parameters parameters(const CollectiveUnitConfig& unit) {
  return {unit.ingress_bandwidth, unit.reduction_bandwidth, unit.latency, unit.buffer,
          unit.buffer == 0 ? 0 : unit.segment};
}

}  // namespace

fabric::Link::Slot put_on_link(fabric::PacketPool& pool, fabric::PacketRef ref, fabric::Link& link,
                               Picoseconds now, bool analytical, fabric::Transfer& transfer) {
  fabric::Packet& packet = pool[ref];
  const auto occupy = [&] {
    const fabric::Link::Slot slot = analytical ? link.occupy_analytical(now, packet.bytes, 0, packet.id_low)
                                               : link.occupy(now, packet.bytes, 0, packet.id_low);
    transfer.leave(slot.start, link.latency(), slot.end - slot.start);
    return slot;
  };
  const fabric::Link::Slot slot = message_in_time("a switch with a collective unit", packet, occupy);
  packet.queued += slot.start - now;
  packet.latency += link.latency();
  transfer.packet = ref;
  transfer.target = packet.destination;
  return slot;
}

SwitchUnit::SwitchUnit(sc_core::sc_module_name module_name, const UnitPlace& place)
    : UnitModel(module_name),
      dimension_(place.dimension),
      config_(place.fabric.config),
      geometry_(place.fabric.geometry),
      pool_(place.fabric.pool),
      context_(place.context),
      ports_(place.ports),
      unit_(parameters(config_.dimensions[dimension_].collective_unit), config_.dimensions[dimension_].size) {
  if (context_.probes != nullptr && context_.probes->on()) {
    const std::string prefix = name();
    probes_ = std::make_unique<Probes>();
    probes_->buffered = context_.probes->number(prefix + ".buffered", 64);
    probes_->blocks = context_.probes->number(prefix + ".blocks", 32);
    probes_->waiting = context_.probes->number(prefix + ".waiting", 32);
  }
  place.fabric.wheel.add(*this);
}

SwitchUnit::~SwitchUnit() = default;

SwitchUnit::Phase& SwitchUnit::phase_of(const MessageId& id, uint32_t source) {
  const auto [it, fresh] = phases_.try_emplace({id.stream, id.chunk, id.phase});
  Phase& phase = it->second;
  if (!fresh) return phase;
  phase.plan = context_.directory.plan(id.stream);
  std::vector<collectives::AxisView> views;
  phase.plan->views(source, views);
  phase.view = views[phase.plan->phases(id.chunk)[id.phase].axis];
  phase.layout = collectives::UnitLayout::of(config_, *phase.plan, id.chunk, id.phase,
                                             phase.plan->split(views, id.chunk, id.phase));
  phase.expected = phase.layout.totals();
  phase.blocks_left = phase.expected.contributions / phase.layout.contributors();
  return phase;
}

uint32_t SwitchUnit::port_of(const Phase& phase, uint32_t member) const {
  return phase.view.axis->value(member);
}

void SwitchUnit::receive(fabric::PacketRef ref, Picoseconds head, Picoseconds tail, Picoseconds before) {
  const fabric::Packet& packet = pool_[ref];
  const MessageId id = unpack(packet.id_low, packet.id_high);
  Phase& phase = phase_of(id, packet.source);
  const uint32_t port = geometry_.coordinate(packet.source, dimension_);
  const std::vector<uint32_t>& values = phase.view.axis->values;
  fabric::CollectiveUnit::Contribution c;
  c.block = {id.stream, id.chunk, id.phase, id.round};
  c.contributor =
      values.empty()
          ? port
          : static_cast<uint32_t>(std::lower_bound(values.begin(), values.end(), port) - values.begin());
  c.contributors = phase.layout.contributors();
  c.port = port;
  c.item = ref;
  c.bytes = packet.bytes;
  c.reduces = phase.layout.reduces();
  c.head = head;
  c.tail = tail;
  c.before = before;
  ++phase.counted.contributions;
  phase.counted.bytes_in += packet.bytes;
  ++total_.contributions;
  total_.bytes_in += packet.bytes;
  unit_.arrive(c);
  if (!running()) wake_at(unit_.next());
}

void SwitchUnit::activate(Picoseconds now) {
  ++activations_;
  unit_.advance(now, *this);
  if (probes_) probe(now);
  wake_at(unit_.next());
}

void SwitchUnit::probe(Picoseconds now) {
  probes_->buffered.set(now, unit_.buffered());
  probes_->blocks.set(now, unit_.blocks());
  probes_->waiting.set(now, unit_.waiting());
}

/// The handle of the result's elements; those of the contributions are used up.
uint32_t SwitchUnit::combine(const Phase& phase, const fabric::CollectiveUnit::Result& result) {
  const auto& contributions = *result.contributions;
  if (context_.data == nullptr || pool_[contributions.front().item].data == kNoData) return kNoData;
  collectives::PayloadPool& payloads = context_.data->payloads();
  if (!phase.layout.reduces()) return pool_[contributions.front().item].data;
  const uint32_t sum = payloads.acquire();
  std::vector<const std::byte*> operands;
  for (const auto& c : contributions) operands.push_back(payloads[pool_[c.item].data].bytes.data());
  collectives::Payload& payload = payloads[sum];
  payload.interval = true;
  payload.offset = payloads[pool_[contributions.front().item].data].offset;
  payload.bytes.resize(result.bytes);
  if (result.bytes != 0) {
    collectives::combine(context_.data->type(), context_.data->op(), operands,
                         result.bytes / collectives::element_bytes(context_.data->type()),
                         payload.bytes.data());
  }
  for (const auto& c : contributions) payloads.release(pool_[c.item].data);
  return sum;
}

Picoseconds SwitchUnit::send(const fabric::CollectiveUnit::Result& result, Picoseconds now) {
  const PhaseKey key{result.block.stream, result.block.chunk, result.block.phase};
  Phase& phase = phases_.at(key);
  const uint32_t data = combine(phase, result);
  // A result's time begins with the contribution that came last.
  const auto& last = (*result.contributions)[result.last];
  fabric::Packet packet = pool_[last.item];
  packet.queued += last.waited;
  packet.latency += config_.dimensions[dimension_].collective_unit.latency;
  packet.source = packet.destination;
  packet.data = data;
  packet.flags = 0;
  for (const auto& c : *result.contributions) pool_.release(c.item);
  // Held until all have been handed over: some may leave while others are.
  const uint32_t number = leave(result.block);
  uint32_t copies = 0;
  for (uint32_t member = 0; member < phase.layout.members(); ++member) {
    if (!phase.layout.receives(result.block.slot, member)) continue;
    const fabric::PacketRef ref = pool_.acquire();
    fabric::Packet& copy = pool_[ref];
    copy = packet;
    copy.references = 1;
    copy.bytes = result.bytes;
    copy.destination = phase.view.rank(member);
    MessageId only;  // of the members' only round
    copy.id_high = pack_high(only, static_cast<uint32_t>(total_.results));
    if (data != kNoData && copies++ != 0) context_.data->payloads().add_reference(data);
    ++phase.counted.results;
    phase.counted.bytes_out += result.bytes;
    ++total_.results;
    total_.bytes_out += result.bytes;
    ++leaving_[number].results;
    const Picoseconds left = ports_.send(port_of(phase, member), ref, number, now);
    if (left != kNever) (void)gone(number, left);
  }
  if (--phase.blocks_left == 0) close(key);
  return gone(number, now);
}

uint32_t SwitchUnit::leave(const fabric::CollectiveUnit::BlockId& block) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(leaving_.size()));
    leaving_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  leaving_[number] = {block, 1, 0};
  return number;
}

/// When the last of a block's results has left; kNever: it has not.
Picoseconds SwitchUnit::gone(uint32_t number, Picoseconds when) {
  Leaving& leaving = leaving_[number];
  leaving.last = std::max(leaving.last, when);
  if (--leaving.results != 0) return kNever;
  free_.push_back(number);
  return leaving.last;
}

void SwitchUnit::left(uint32_t number, Picoseconds when) {
  const fabric::CollectiveUnit::BlockId block = leaving_[number].block;
  const Picoseconds last = gone(number, when);
  if (last == kNever) return;
  unit_.left(block, last);
  if (!running()) wake_at(unit_.next());
}

void SwitchUnit::close(const PhaseKey& key) {
  const auto it = phases_.find(key);
  const auto& expected = it->second.expected;
  const auto& counted = it->second.counted;
  if (expected.contributions != counted.contributions || expected.bytes_in != counted.bytes_in ||
      expected.results != counted.results || expected.bytes_out != counted.bytes_out) {
    broken_.push_back(fmt::format(
        "{}: collective {} chunk {} phase {} took {} contributions ({} B) and sent {} results ({} B), not {} "
        "({} B) and {} ({} B)",
        name(), key.stream, key.chunk, key.phase, counted.contributions, counted.bytes_in, counted.results,
        counted.bytes_out, expected.contributions, expected.bytes_in, expected.results, expected.bytes_out));
  }
  phases_.erase(it);
}

std::vector<std::string> SwitchUnit::describe_waits(size_t limit) const {
  std::vector<std::string> lines;
  for (const auto& block : unit_.pending(limit)) {
    const Phase& phase = phases_.at({block.block.stream, block.block.chunk, block.block.phase});
    std::string missing;
    for (size_t i = 0; i < block.missing.size(); ++i) {
      if (i == 8) {
        missing += fmt::format(" and {} more", block.missing.size() - i);
        break;
      }
      missing += fmt::format("{}{}", i == 0 ? "" : ", ", phase.view.rank(block.missing[i]));
    }
    lines.push_back(fmt::format(
        "{}: collective {} chunk {} phase {} block {} ({} B){} waits for {}", name(), block.block.stream,
        block.block.chunk, block.block.phase, block.block.slot, block.bytes,
        block.has_buffer ? "" : fmt::format(" without buffer ({} B are in use)", unit_.buffered()),
        missing.empty() ? std::string("buffer") : "the contribution(s) of rank(s) " + missing));
  }
  return lines;
}

void SwitchUnit::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += unit_.blocks();
  counters.unit_messages_in += total_.contributions;
  counters.unit_messages_out += total_.results;
  counters.unit_bytes_in += total_.bytes_in;
  counters.unit_bytes_out += total_.bytes_out;
}

void SwitchUnit::find_unbalanced(std::vector<std::string>& lines) const {
  lines.insert(lines.end(), broken_.begin(), broken_.end());
  if (!phases_.empty())
    lines.push_back(fmt::format("{}: {} phases of collectives are not over", name(), phases_.size()));
  if (unit_.buffered() != 0)
    lines.push_back(fmt::format("{}: {} B of partial sums were never sent", name(), unit_.buffered()));
}

}  // namespace weft
