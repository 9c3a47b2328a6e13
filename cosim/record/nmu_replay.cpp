// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/nmu_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/names.h"
#include "configs/graph.h"
#include "configs/loader.h"
#include "sc_models/message_bits.h"
#include "sc_models/switch_ways.h"
#include "workload/graph/fidelity_rules.h"

namespace weft::cosim {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw UserError(ExitCode::usage, why);
}

const Recording& checked_nmu(const Recording& recording) {
  check_kind(recording, "nmu", "message");
  return recording;
}

/// The recorded machine, as far as its NMU needs it.
Config machine_of(const RecordingHeader& header) {
  Config config = parse_config(header.configuration, "the recorded configuration");
  for (const DimensionConfig& d : config.fabric_dimensions())
    if (d.size > 1 && (carrier_of(d) == Carrier::direct || carrier_of(d) == Carrier::packets))
      refuse(
          fmt::format("'{}' has links at `analytical` or `packet` fidelity, and an NMU is replayed with "
                      "all links at `message` fidelity; record it in a machine that has only these",
                      header.block));
  if (config.graph != nullptr && carrier_of(*config.graph) != Carrier::switches)
    refuse(fmt::format("the graph of '{}' is not at `message` fidelity, at which an NMU is replayed",
                       header.block));
  if (graph::FidelityRules(config).planes() > 1)
    refuse(
        fmt::format("the recorded machine has `topology.fidelity_rules`, and an NMU with links at several "
                    "fidelities is not replayed; record '{}' without these rules",
                    header.block));
  // What is delivered is told before its reduction in memory begins.
  if (config.collectives.reduction == ReductionKind::hbm) config.collectives.reduction = ReductionKind::none;
  return config;
}

bool is_point_to_point(const fabric::Crossing& crossing) {
  return unpack(crossing.id_low, crossing.id_high).kind == MessageId::Kind::point_to_point;
}

}  // namespace

NmuReplay::NmuReplay(sc_core::sc_module_name module_name, const Recording& recording, const Make& make,
                     const ReplayOptions& options)
    : sc_core::sc_module(module_name),
      recording_(checked_nmu(recording)),
      options_(options),
      report_(recording),
      answers_(recording, options_, report_),
      config_(machine_of(recording.header)),
      geometry_(Geometry::of_fabric(config_)),
      data_(collectives::DataContext::make(config_)),
      elements_(data_ == nullptr ? nullptr : std::make_unique<PayloadElements>(data_->payloads())),
      link_types_(link_types_of(config_)),
      wheel_("wheel"),
      messages_(pool_, elements_.get(),
                [this](bool into, const fabric::Crossing& crossing) {
                  if (!into) delivered(crossing);
                }),
      next_("next"),
      rest_("rest", InstantPart::starts, [this] { drive_on(true); }) {
  const RecordingHeader& header = recording.header;
  for (uint32_t p = 0; p < header.ports.size(); ++p)
    if (header.ports[p].peer == kOwnSide) own_side_ = p;
  if (own_side_ == kNone)
    refuse(fmt::format("the recorded model of '{}' tells nothing of its own side, and cannot be replayed",
                       header.block));
  const NpuId rank = numbered(recording, "nmu");
  if (index(rank) >= geometry_.npus())
    refuse(fmt::format("the recorded machine has {} NPUs, and no '{}'", geometry_.npus(), header.block));
  NmuContext context{config_, geometry_, link_types_, pool_, wheel_};
  context.data = data_.get();
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d)
    if (collectives::uses_unit(config_, d)) context.units = &units_;
  nmu_ = make(header.block.c_str(), rank, context);
  nmu_->attach(*this);
  programs_ = nmu_->carry_programs(*this);
  if (programs_ == nullptr || !nmu_->watch_messages(messages_))
    refuse(
        "this model of an NMU takes no messages of others, and cannot be replayed; models that derive "
        "from Nmu or RtlNmu can");
  join_links();
  plan_order();
  SC_HAS_PROCESS(NmuReplay);
  SC_METHOD(drive);
  sensitive << next_;
}

NmuReplay::~NmuReplay() = default;

/// The recorded port with this name behind the block's.
uint32_t NmuReplay::port_of(const std::string& suffix) const {
  const RecordingHeader& header = recording_.header;
  for (uint32_t p = 0; p < header.ports.size(); ++p) {
    const std::string& name = header.ports[p].name;
    const size_t end = name.rfind("." + header.block + ".");
    if (p != own_side_ && end != std::string::npos && name.substr(end + header.block.size() + 1) == suffix)
      return p;
  }
  refuse(fmt::format("the recording has no port '{}{}', which the NMU has in the recorded machine",
                     header.block, suffix));
}

/// A border at each of the NMU's links.
void NmuReplay::join_links() {
  border_of_.resize(recording_.header.ports.size(), nullptr);
  const uint32_t place = geometry_.place(index(nmu_->rank()));
  if (const Graph* const graph = config_.graph.get()) {
    for (uint32_t i = 0; i < graph->ports(place).size(); ++i)
      join(nmu_->end({i}),
           {{kNone, port_of(graph_end(*graph, geometry_, GraphLine{}, "switch_", {place, i}).link)}});
    return;
  }
  const auto named = [&](uint32_t d, uint32_t link) {
    return port_of("." + link_name(geometry_, d, place, link));
  };
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const DimensionConfig& dimension = config_.fabric_dimensions()[d];
    if (dimension.size <= 1) continue;
    const Shape shape = geometry_.shape(d);
    const uint32_t here = geometry_.coordinate(place, d);
    if (carrier_of(dimension) == Carrier::neighbours) {
      for (const uint32_t link : {uint32_t{Shape::kUp}, uint32_t{Shape::kDown}})
        if (shape.leads_on(here, link)) join(nmu_->end({d, link == Shape::kDown}), {{kNone, named(d, link)}});
    } else if (carrier_of(dimension) == Carrier::pairs) {
      std::map<uint32_t, uint32_t> ports;
      for (uint32_t i = 0; i < shape.links(); ++i)
        ports[geometry_.with_coordinate(place, d, shape.peer(here, i))] = named(d, i);
      join(nmu_->end({d}), std::move(ports));
    } else {
      join(nmu_->end({d}), {{kNone, named(d, 0)}});
    }
  }
}

/// `ports`: of the recording, by the NPU at the link's other end; kNone: whoever is there.
void NmuReplay::join(const LinkSocket& socket, std::map<uint32_t, uint32_t> ports) {
  if (socket.initiator == nullptr && socket.target == nullptr)
    refuse(fmt::format("this model of an NMU lacks the link '{}'",
                       recording_.header.ports[ports.begin()->second].name));
  const std::string name = fmt::format("port{}", ports.begin()->second);
  std::vector<uint32_t> numbers;
  for (const auto& [peer, port] : ports) numbers.push_back(port);
  borders_.push_back(std::make_unique<fabric::Border>(
      name.c_str(),
      socket.initiator != nullptr ? fabric::Border::Side::target : fabric::Border::Side::initiator, pool_,
      [this, by_peer = std::move(ports)](const fabric::Crossing& crossing) {
        auto at = by_peer.find(crossing.target);
        if (at == by_peer.end()) at = by_peer.find(kNone);
        answers_.answered(at == by_peer.end() ? by_peer.begin()->second : at->second, crossing);
      },
      elements_.get()));
  for (const uint32_t port : numbers) border_of_[port] = borders_.back().get();
  if (socket.initiator != nullptr) {
    fabric::join(*socket.initiator, *borders_.back()->target());
  } else {
    fabric::join(*borders_.back()->initiator(), *socket.target);
  }
}

/// What a delivery made the job hand over came after it, at the same instant. So did what collectives hand
/// over when all else has happened, after point-to-point messages.
void NmuReplay::plan_order() {
  const std::vector<RecordedEvent>& events = recording_.events;
  after_.resize(events.size());
  after_leaving_.resize(events.size());
  Picoseconds instant = 0;
  uint32_t deliveries = 0;
  std::map<MessageKey, bool> exchanged;
  std::set<MessageKey> handed_over;  // point to point, and not sent yet
  bool left = false;                 // .. but in this instant
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].at != instant) {
      deliveries = 0;
      left = false;
    }
    instant = events[i].at;
    after_[i] = deliveries;
    const auto& crossing = std::get<fabric::Crossing>(events[i].what);
    const bool own = events[i].port == own_side_;
    after_leaving_[i] = own && left && !is_point_to_point(crossing);
    if (own && events[i].into && is_point_to_point(crossing)) handed_over.insert(key_of(crossing));
    if (!own && !events[i].into) left = handed_over.erase(key_of(crossing)) != 0 || left;
    if (events[i].into && events[i].port != own_side_ && of_full_exchange(crossing))
      exchanged[key_of(crossing)] = true;
    if (events[i].into || events[i].port != own_side_) continue;
    ++deliveries;
    if (exchanged.count(key_of(crossing)) != 0) held_back_[key_of(crossing)] = crossing.first;
  }
}

void NmuReplay::drive() {
  drive_on(false);
}

/// An NMU sends messages of collectives at once, and point-to-point messages when the fabric's part of the
/// instant comes. Where the recorded one had sent such a message before the collective's was handed over,
/// this one must have, too.
bool NmuReplay::waits(const RecordedEvent& event, size_t at, bool all) const {
  if (event.port != own_side_) return false;
  if (after_leaving_[at] && rested_ != event.at) return true;
  return !all && after_[at] > (instant_ == event.at ? delivered_now_ : 0);
}

/// `all`: what is due now, whether the deliveries before it have come or not.
void NmuReplay::drive_on(bool all) {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (all) rested_ = now;
  const std::vector<RecordedEvent>& events = recording_.events;
  while (position_ < events.size()) {
    const RecordedEvent& event = events[position_];
    if (!event.into) {
      ++position_;
      continue;
    }
    if (event.at > now) {
      next_.notify(sc_core::sc_time::from_value(event.at - now));
      return;
    }
    const auto& crossing = std::get<fabric::Crossing>(event.what);
    if (waits(event, position_, all)) {
      rest_.request();
      return;
    }
    ++position_;  // what follows may come back here
    ++driven_;
    if (event.port == own_side_) {
      hand_over(crossing);
    } else {
      fabric::Crossing message = crossing;
      leave_full_exchange(message);
      message.first = std::max(message.first, now);
      border_of_[event.port]->enter(message);
    }
  }
}

void NmuReplay::hand_over(const fabric::Crossing& crossing) {
  const uint32_t data = crossing.has_elements && elements_ ? elements_->put(crossing.elements) : kNoData;
  const Message message = message_of(crossing, geometry_, data);
  if (message.id.kind != MessageId::Kind::point_to_point) return programs_->submit(message);
  rested_ = kNever;
  nmu_->send(message.peer, message.id.round, message.id.stream, message.bytes, data);
}

void NmuReplay::delivered(fabric::Crossing crossing) {
  const Picoseconds now = sc_core::sc_time_stamp().value();
  if (instant_ != now) delivered_now_ = 0;
  instant_ = now;
  ++delivered_now_;
  // The end of a full exchange is a matter of its collective.
  const auto held = held_back_.find(key_of(crossing));
  if (held != held_back_.end()) crossing.first = std::max(crossing.first, held->second);
  answers_.answered(own_side_, crossing);
  drive_on(false);
}

void NmuReplay::finish() {
  answers_.finish(dynamic_cast<const FaultTeller*>(nmu_.get()), own_side_);
}

}  // namespace weft::cosim
