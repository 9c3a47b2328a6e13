// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/switch_unit.h"

#include <fmt/format.h>

#include "sc_models/message_bits.h"
#include "sc_models/message_time.h"

namespace weft {

fabric::Link::Slot put_on_link(fabric::PacketPool& pool, fabric::PacketRef ref, fabric::Link& link,
                               Picoseconds now, bool analytical, fabric::Transfer& transfer) {
  fabric::Packet& packet = pool[ref];
  const Picoseconds latency = paid_latency(packet.id_low, link.latency());
  const auto occupy = [&] {
    const fabric::Link::Slot slot = analytical
                                        ? link.occupy_analytical(now, packet.bytes, 0, packet.id_low, ref)
                                        : link.occupy(now, packet.bytes, 0, packet.id_low, ref);
    transfer.leave(slot.start, latency, slot.end - slot.start);
    return slot;
  };
  const fabric::Link::Slot slot = message_in_time("a switch with a collective unit", packet, occupy);
  packet.queued += slot.start - now;
  packet.latency += latency;
  transfer.packet = ref;
  transfer.target = packet.destination;
  return slot;
}

SwitchUnit::SwitchUnit(sc_core::sc_module_name module_name, const UnitPlace& place)
    : UnitModel(module_name),
      latency_(place.fabric.config.dimensions[place.dimension].collective_unit.latency),
      blocks_(place, name()),
      unit_(unit_parameters(place.fabric.config.dimensions[place.dimension].collective_unit),
            place.fabric.config.dimensions[place.dimension].size) {
  vcd::ProbeHub* probes = place.context.probes;
  if (probes != nullptr && probes->on()) {
    const std::string prefix = name();
    probes_ = std::make_unique<Probes>();
    probes_->buffered = probes->number(prefix + ".buffered", 64);
    probes_->blocks = probes->number(prefix + ".blocks", 32);
    probes_->waiting = probes->number(prefix + ".waiting", 32);
    probes_->reducing = probes->bit(prefix + ".reducing");
    probes_->reducing.set(0, false);
  }
  place.fabric.wheel.add(*this);
}

SwitchUnit::~SwitchUnit() = default;

void SwitchUnit::receive(fabric::PacketRef ref, Picoseconds head, Picoseconds tail, Picoseconds before) {
  unit_.arrive(blocks_.take(ref, head, tail, before));
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
  const Picoseconds until = unit_.reduction_free();
  if (until <= now || until == probes_->reduces_until) return;
  // What was told to be the end is none if it goes on.
  probes_->reducing.set(std::max(now, probes_->reduces_until), true);
  probes_->reducing.set(until, false);
  probes_->reduces_until = until;
}

Picoseconds SwitchUnit::send(const fabric::CollectiveUnit::Result& result, Picoseconds now) {
  return blocks_.send(result, blocks_.combine(result), latency_, now);
}

void SwitchUnit::left(uint32_t number, Picoseconds when) {
  const auto [block, last] = blocks_.left(number, when);
  if (last == kNever) return;
  unit_.left(block, last);
  if (!running()) wake_at(unit_.next());
}

std::vector<std::string> SwitchUnit::describe_waits(size_t limit) const {
  std::vector<std::string> lines;
  for (const auto& block : unit_.pending(limit)) {
    std::string missing;
    for (size_t i = 0; i < block.missing.size(); ++i) {
      if (i == 8) {
        missing += fmt::format(" and {} more", block.missing.size() - i);
        break;
      }
      missing += fmt::format("{}{}", i == 0 ? "" : ", ", blocks_.rank(block.block, block.missing[i]));
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
  blocks_.count(counters);
}

void SwitchUnit::find_unbalanced(std::vector<std::string>& lines) const {
  blocks_.find_unbalanced(lines);
  if (unit_.buffered() != 0)
    lines.push_back(fmt::format("{}: {} B of partial sums were never sent", name(), unit_.buffered()));
}

}  // namespace weft
