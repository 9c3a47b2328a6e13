// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/unit_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "insight/activity_listener.h"
#include "sc_models/message_bits.h"
#include "sc_models/message_causes.h"
#include "workload/collectives/elements.h"

namespace weft {

fabric::CollectiveUnit::Parameters unit_parameters(const CollectiveUnitConfig& unit) {
  return {unit.ingress_bandwidth, unit.reduction_bandwidth, unit.latency, unit.buffer,
          unit.buffer == 0 ? 0 : unit.segment};
}

UnitBlocks::UnitBlocks(const UnitPlace& place, std::string name)
    : name_(std::move(name)),
      dimension_(place.dimension),
      config_(place.fabric.config),
      geometry_(place.fabric.geometry),
      pool_(place.fabric.pool),
      context_(place.context),
      ports_(place.ports) {}

UnitBlocks::~UnitBlocks() = default;

UnitBlocks::Phase& UnitBlocks::phase_of(const MessageId& id, uint32_t source) {
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

UnitBlocks::Contribution UnitBlocks::take(fabric::PacketRef ref, Picoseconds head, Picoseconds tail,
                                          Picoseconds before) {
  const fabric::Packet& packet = pool_[ref];
  const MessageId id = unpack(packet.id_low, packet.id_high);
  Phase& phase = phase_of(id, packet.source);
  const uint32_t port = geometry_.coordinate(packet.source, dimension_);
  const std::vector<uint32_t>& values = phase.view.axis->values;
  Contribution c;
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
  return c;
}

bool UnitBlocks::reduces(const BlockId& block) const {
  return phases_.at(key(block)).layout.reduces();
}

uint32_t UnitBlocks::rank(const BlockId& block, uint32_t contributor) const {
  return phases_.at(key(block)).view.rank(contributor);
}

const std::byte* UnitBlocks::elements(const Contribution& contribution) const {
  const uint32_t data = pool_[contribution.item].data;
  if (context_.data == nullptr || data == kNoData) return nullptr;
  return context_.data->payloads()[data].bytes.data();
}

uint32_t UnitBlocks::combine(const Result& result, const std::byte* sums) {
  const auto& contributions = *result.contributions;
  if (context_.data == nullptr || pool_[contributions.front().item].data == kNoData) return kNoData;
  collectives::PayloadPool& payloads = context_.data->payloads();
  if (!reduces(result.block)) return pool_[contributions.front().item].data;
  const uint32_t sum = payloads.acquire();
  std::vector<const std::byte*> operands;
  for (const auto& c : contributions) operands.push_back(payloads[pool_[c.item].data].bytes.data());
  collectives::Payload& payload = payloads[sum];
  payload.interval = true;
  payload.offset = payloads[pool_[contributions.front().item].data].offset;
  payload.bytes.resize(result.bytes);
  if (sums != nullptr) {
    std::copy_n(sums, result.bytes, payload.bytes.begin());
  } else if (result.bytes != 0) {
    collectives::combine(context_.data->type(), context_.data->op(), operands,
                         result.bytes / collectives::element_bytes(context_.data->type()),
                         payload.bytes.data());
  }
  for (const auto& c : contributions) payloads.release(pool_[c.item].data);
  return sum;
}

Picoseconds UnitBlocks::send(const Result& result, uint32_t data, Picoseconds latency, Picoseconds now) {
  Phase& phase = phases_.at(key(result.block));
  // A result's time begins with the contribution that came last.
  const auto& last = (*result.contributions)[result.last];
  fabric::Packet packet = pool_[last.item];
  packet.queued += last.waited;
  packet.latency += latency;
  packet.source = packet.destination;
  packet.data = data;
  packet.flags = 0;
  insight::ActivityId combined = insight::kNoActivity;
  if (pool_.causes() != nullptr)
    combined = pool_.causes()->stretch(insight::ActivityKind::unit, pool_.causes()->last(last.item), 0,
                                       cause_stream(packet), std::min(last.tail, now), now);
  insight::ActivityListener* const listener =
      pool_.causes() == nullptr ? nullptr : pool_.causes()->listener();
  for (const auto& c : *result.contributions) {
    if (listener != nullptr) listener->combined(c.item, cause_stream(packet), now);
    pool_.release(c.item);
  }
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
    if (pool_.causes() != nullptr) pool_.causes()->submitted(ref, combined);
    if (listener != nullptr) listener->submitted(ref);
    MessageId only;  // of the members' only round
    copy.id_high = pack_high(only, static_cast<uint32_t>(total_.results));
    if (data != kNoData && copies++ != 0) context_.data->payloads().add_reference(data);
    ++phase.counted.results;
    phase.counted.bytes_out += result.bytes;
    ++total_.results;
    total_.bytes_out += result.bytes;
    ++leaving_[number].results;
    const Picoseconds left = ports_.send(phase.view.axis->value(member), ref, number, now);
    if (left != kNever) (void)gone(number, left);
  }
  if (--phase.blocks_left == 0) close(key(result.block));
  return gone(number, now);
}

uint32_t UnitBlocks::leave(const BlockId& block) {
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
Picoseconds UnitBlocks::gone(uint32_t number, Picoseconds when) {
  Leaving& leaving = leaving_[number];
  leaving.last = std::max(leaving.last, when);
  if (--leaving.results != 0) return kNever;
  free_.push_back(number);
  return leaving.last;
}

std::pair<UnitBlocks::BlockId, Picoseconds> UnitBlocks::left(uint32_t number, Picoseconds when) {
  const BlockId block = leaving_[number].block;
  return {block, gone(number, when)};
}

void UnitBlocks::close(const PhaseKey& phase) {
  const auto it = phases_.find(phase);
  const auto& expected = it->second.expected;
  const auto& counted = it->second.counted;
  if (expected.contributions != counted.contributions || expected.bytes_in != counted.bytes_in ||
      expected.results != counted.results || expected.bytes_out != counted.bytes_out) {
    broken_.push_back(fmt::format(
        "{}: collective {} chunk {} phase {} took {} contributions ({} B) and sent {} results ({} B), not {} "
        "({} B) and {} ({} B)",
        name_, phase.stream, phase.chunk, phase.phase, counted.contributions, counted.bytes_in,
        counted.results, counted.bytes_out, expected.contributions, expected.bytes_in, expected.results,
        expected.bytes_out));
  }
  phases_.erase(it);
}

void UnitBlocks::count(Counters& counters) const {
  counters.unit_messages_in += total_.contributions;
  counters.unit_messages_out += total_.results;
  counters.unit_bytes_in += total_.bytes_in;
  counters.unit_bytes_out += total_.bytes_out;
}

void UnitBlocks::find_unbalanced(std::vector<std::string>& lines) const {
  lines.insert(lines.end(), broken_.begin(), broken_.end());
  if (!phases_.empty())
    lines.push_back(fmt::format("{}: {} phases of collectives are not over", name_, phases_.size()));
}

}  // namespace weft
