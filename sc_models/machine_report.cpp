// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the machine says of itself: links by name, sums, what does not balance, why nothing moves.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "insight/activity_listener.h"
#include "sc_models/machine.h"
#include "sc_models/message_causes.h"
#include "tlm_interconnect/ports/link_signals.h"
#include "tlm_interconnect/ports/wires.h"

namespace weft {

std::string Machine::explain_stall() const {
  constexpr size_t kUnitLines = 8;
  std::string text;
  for (const std::string& line : describe_unit_waits(kUnitLines)) text += "  " + line + "\n";
  for (const Component* component : components_) text += component->stall_text();
  return text;
}

bool Machine::rescue() {
  uint32_t chunks = 0;
  for (const auto& nmu : nmus_) chunks += nmu ? nmu->rescue() : 0;
  if (chunks == 0) return false;
  rescues_.last = sc_core::sc_time_stamp().value();
  if (rescues_.times++ == 0) rescues_.first = rescues_.last;
  rescues_.chunks += chunks;
  return true;
}

std::vector<std::string> Machine::slot_warnings(uint64_t beyond) const {
  std::vector<std::string> lines;
  // What the last resort has started is told by its own line.
  beyond -= std::min(beyond, rescues_.chunks);
  if (beyond != 0) {
    lines.push_back(
        fmt::format("{} chunks were started beyond collectives.active_chunks_per_dimension, because ranks in "
                    "unequal situations had chosen different chunks and waited for each other",
                    beyond));
  }
  if (rescues_.times != 0) {
    lines.push_back(fmt::format(
        "nothing in the machine moved any more ({} time{}, first at {} ps, last at {} ps), and {} chunks "
        "that waited "
        "for a slot were then started beyond collectives.active_chunks_per_dimension: ranks wait in a circle "
        "of "
        "slots and of messages or dependencies of the workload, so times depend on work that is unrelated; "
        "raise "
        "collectives.active_chunks_per_dimension, or let all ranks reach collectives in one order",
        rescues_.times, rescues_.times == 1 ? "" : "s", rescues_.first, rescues_.last, rescues_.chunks));
  }
  return lines;
}

void Machine::settle() {
  for (const auto& fabric : packets_) {
    for (uint32_t n = 0; n < fabric->networks(); ++n) fabric->network(n).settle();
  }
}

void Machine::restart() {
  for (const auto& fabric : packets_) {
    for (uint32_t n = 0; n < fabric->networks(); ++n) fabric->network(n).restart();
  }
  for (const auto& memory : memories_) memory->restart();
  for (const auto& nmu : nmus_) {
    if (nmu && nmu->memory() != nullptr) nmu->memory()->restart();
  }
}

void Machine::observe_links(vcd::ProbeHub& probes) {
  for_each_link([&](const LinkReport& report) {
    if (report.link != nullptr) {
      auto& link = const_cast<fabric::Link&>(*report.link);
      auto signals = std::make_unique<fabric::LinkSignals>(probes, report.name, link.observer());
      if (!signals->wanted()) return;
      link.observe(signals.get());
      observers_.push_back(std::move(signals));
    } else if (report.sender.network != nullptr) {
      auto& network = const_cast<packet::PacketNetwork&>(*report.sender.network);
      network.record_link(probes, report.sender, report.name, &pool_);
    }
  });
  for (const auto& part : parts_) {
    if (auto* const model = dynamic_cast<SwitchModel*>(part.get())) model->record(probes);
  }
  wire_recorders_ = fabric::record_wires(probes);
}

void Machine::tell_causes_of_links(insight::CausalLog& log) {
  if (!log.keeps() && log.listener() != nullptr && !log.listener()->wants_links()) return;
  for_each_link([&](const LinkReport& report) {
    if (report.link == nullptr) return;
    auto& link = const_cast<fabric::Link&>(*report.link);
    auto observer = std::make_unique<LinkCauses>(
        log, report.name, report.kind.empty() ? fmt::format("dimension {}", report.dimension) : report.kind,
        link.observer());
    link.observe(observer.get());
    observers_.push_back(std::move(observer));
  });
  for (const auto& fabric : packets_) fabric->tell_bursts(log);
  if (memory_pool_ == nullptr) return;
  PacketHops* hops = nullptr;  // of the network that carries the pool, too
  for (const auto& fabric : packets_)
    if (fabric->network(0).topology().guests != nullptr) hops = fabric->hops(0);
  memory_pool_->follow_packets(hops);
}

/// The link of `like` that is used as this one of `rank` is.
uint32_t Machine::image(uint32_t d, uint32_t rank, uint32_t link, uint32_t like, uint32_t exchanges) const {
  return geometry_.shape(d).image(link, geometry_.coordinate(rank, d), geometry_.coordinate(like, d),
                                  (exchanges >> d & 1) != 0);
}

std::vector<fabric::Link> Machine::links(uint32_t rank) const {
  std::vector<fabric::Link> result;
  for (const Nmu::Port& port : own_nmu(rank).ports()) {
    if (port.nmu == nullptr) continue;
    for (uint32_t i = 0; i < port.links(); ++i) result.push_back(port.link(i));
  }
  return result;
}

void Machine::adopt_links(uint32_t rank, uint32_t like, const std::vector<fabric::Link>& before,
                          uint32_t dimensions, uint32_t exchanges) {
  size_t at = 0;
  for (size_t p = 0; p < own_nmu(like).ports().size(); ++p) {
    const Nmu::Port& from = own_nmu(like).ports()[p];
    if (from.nmu == nullptr) continue;
    Nmu::Port& to = own_nmu(rank).ports()[p];
    const uint32_t d = from.dimension;
    for (uint32_t i = 0; (dimensions >> d & 1) != 0 && i < to.links(); ++i) {
      const uint32_t alike = image(d, rank, i, like, exchanges);
      to.link(i).adopt(from.link(alike), before[at + alike]);
    }
    at += from.links();
    for (uint32_t i = 0; (dimensions >> d & 1) != 0 && i < to.lasts(); ++i) to.last(i).adopt(from.last(i));
  }
}

void Machine::for_each_link(const Component::LinkVisitor& visit) const {
  for (const auto& nmu : nmus_) {
    if (nmu) nmu->for_each_link(visit);
  }
  for_each_switch_link(visit);
}

void Machine::for_each_switch_link(const Component::LinkVisitor& visit) const {
  for (const LinkPlace place : kLinkPlaces) {
    for (const Component* component : components_) {
      if (place != LinkPlace::nmus && (place != LinkPlace::hosts || !folded_) &&
          component->link_place() == place)
        component->for_each_link(visit);
    }
  }
}

void Machine::for_each_switch_link_as(const std::function<uint32_t(uint32_t)>& built,
                                      const Component::LinkVisitor& visit) const {
  for (const FoldedCrossbar* module : folded_switches_) module->for_each_link_as(built, visit);
  const auto folded = [this](const Component* component) {
    return std::any_of(folded_switches_.begin(), folded_switches_.end(),
                       [&](const FoldedCrossbar* module) { return module == component; });
  };
  for (const LinkPlace place : kLinkPlaces) {
    for (const Component* component : components_) {
      if (place != LinkPlace::nmus && (place != LinkPlace::hosts || !folded_) &&
          component->link_place() == place && !folded(component))
        component->for_each_link(visit);
    }
  }
}

std::vector<std::string> Machine::describe_unit_waits(size_t limit) const {
  std::vector<std::string> lines;
  for_each_unit([&](const UnitModel& unit) {
    for (std::string& line : unit.describe_waits(limit - lines.size())) lines.push_back(std::move(line));
  });
  return lines;
}

uint64_t Machine::memory_bytes(uint32_t rank) const {
  uint64_t bytes = 0;
  const auto [first, last] = std::equal_range(memory_ranks_.begin(), memory_ranks_.end(), rank);
  for (auto at = first; at != last; ++at)
    bytes += memories_[static_cast<size_t>(at - memory_ranks_.begin())]->bytes();
  if (memory_pool_ != nullptr) bytes += memory_pool_->bytes(rank);
  if (tiers_ != nullptr) bytes += tiers_->bytes(rank);
  return bytes;
}

Machine::Totals Machine::totals() const {
  Totals t;
  for (const Component* component : components_) component->count(t);
  return t;
}

Machine::Congestion Machine::congestion() const {
  Congestion c;
  for (const auto& fabric : packets_) {
    for (uint32_t n = 0; n < fabric->networks(); ++n) {
      const packet::PacketNetwork& network = fabric->network(n);
      c.packet_hops += network.packet_hops();
      c.marked += network.packets_marked();
      c.notifications += network.notifications();
    }
    for (PacketFabric::FlowUse& flow : fabric->slowed_flows()) c.flows.push_back(std::move(flow));
  }
  return c;
}

std::vector<std::string> Machine::check_conservation() const {
  std::vector<std::string> broken = unbalanced_sums(totals());
  for (std::string& line : unbalanced_modules()) broken.push_back(std::move(line));
  return broken;
}

std::vector<std::string> Machine::unbalanced_sums(const Totals& t) {
  std::vector<std::string> broken;
  // What NMUs and collective units send, and what the two receive.
  const uint64_t messages_sent = t.messages_submitted + t.unit_messages_out;
  const uint64_t messages_received = t.messages_delivered + t.unit_messages_in;
  if (messages_sent != messages_received) {
    broken.push_back(
        fmt::format("{} messages were submitted and {} delivered", messages_sent, messages_received));
  }
  const uint64_t bytes_sent = t.bytes_submitted + t.unit_bytes_out;
  const uint64_t bytes_received = t.bytes_delivered + t.unit_bytes_in;
  if (bytes_sent != bytes_received) {
    broken.push_back(fmt::format("{} bytes were submitted and {} delivered", bytes_sent, bytes_received));
  }
  if (t.in_flight != 0)
    broken.push_back(fmt::format("{} messages are still in NMUs and switches", t.in_flight));
  if (t.memory_outstanding != 0) {
    broken.push_back(fmt::format("{} memory requests were never answered", t.memory_outstanding));
  }
  return broken;
}

std::vector<std::string> Machine::warnings_of_modules() const {
  std::vector<std::string> warnings;
  for (const Component* component : components_) component->find_warnings(warnings);
  return warnings;
}

std::vector<std::string> Machine::unbalanced_modules() const {
  std::vector<std::string> broken;
  for (const Component* component : components_) component->find_unbalanced(broken);
  if (pool_.live() != 0) broken.push_back(fmt::format("{} packets were never released", pool_.live()));
  if (data_ && data_->payloads().live() != 0) {
    broken.push_back(fmt::format("the elements of {} messages were never applied", data_->payloads().live()));
  }
  return broken;
}

}  // namespace weft
