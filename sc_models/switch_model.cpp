// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/switch_model.h"

#include <utility>

#include "sc_models/crossbar.h"
#include "sc_models/make_model.h"
#include "sc_models/message_bits.h"
#include "sc_models/message_time.h"
#include "sc_models/switch_signals.h"
#include "sc_models/switch_unit.h"

namespace weft {

/// The collective unit, which sends by the switch's ports.
class SwitchModel::Host final : public UnitPorts {
 public:
  explicit Host(SwitchModel& of) : switch_(of) {}

  Picoseconds send(uint32_t port, fabric::PacketRef result, uint32_t, Picoseconds now) override {
    Port& out = switch_.ports_[port];
    fabric::Transfer transfer;
    const fabric::Link::Slot slot = put_on_link(switch_.pool_, result, out.sends(), now, false, transfer);
    out.send(transfer);
    return slot.end;
  }

  std::unique_ptr<UnitModel> unit;

 private:
  SwitchModel& switch_;
};

SwitchModel::SwitchModel(sc_core::sc_module_name name, SwitchContext context)
    : sc_core::sc_module(name),
      pool_(context.pool),
      ways_(std::move(context.ways)),
      link_place_(context.link_place),
      cut_through_(context.switching == Switching::cut_through),
      ports_(context.ports.size()) {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    port.owner = this;
    port.number = p;
    port.link = fabric::Link(*context.ports[p].link);
    port.shared = context.ports[p].shared;
    if (context.ports[p].initiator) {
      if (!initiators_) initiators_ = std::make_unique<fabric::fabric_initiator_port>("initiators");
      port.initiator = std::make_unique<fabric::fabric_initiator_end>(*initiators_, port);
    } else {
      if (!targets_) targets_ = std::make_unique<fabric::fabric_target_port>("targets");
      port.target = std::make_unique<fabric::fabric_target_end>(*targets_, port);
    }
  }
  context.wheel.add(*this);
  if (!context.make_unit) return;
  host_ = std::make_unique<Host>(*this);
  host_->unit = context.make_unit(*host_);
}

SwitchModel::~SwitchModel() = default;

const UnitModel* SwitchModel::unit() const {
  return host_ == nullptr ? nullptr : host_->unit.get();
}

void SwitchModel::Port::receive(const fabric::Transfer& transfer) {
  if (transfer.kind != fabric::Transfer::Kind::burst) return owner->control(number, transfer);
  if (owner->host_ != nullptr && UnitModel::addressed(owner->pool_[transfer.packet]))
    return owner->host_->unit->receive(transfer);
  if (owner->signals_)
    owner->signals_->arrives(transfer.packet, number, transfer.first,
                             owner->pool_[transfer.packet].destination);
  owner->arrive({number, transfer.first, transfer.first + transfer.flit_time, transfer.packet});
}

void SwitchModel::Port::send(fabric::Transfer& transfer) {
  fabric::FabricPhase phase = fabric::FabricPhase::transfer;
  sc_core::sc_time zero;
  if (forward_ != nullptr) {
    forward_->nb_transport_fw(transfer, phase, zero);
  } else if (backward_ != nullptr) {
    backward_->nb_transport_bw(transfer, phase, zero);
  } else {
    resolve();
    send(transfer);
  }
}

void SwitchModel::Port::resolve() {
  if (initiator) forward_ = initiator->peer();
  if (target) backward_ = target->peer();
  if (forward_ == nullptr && backward_ == nullptr)
    SC_REPORT_FATAL("weft/sc_models/switch",
                    fmt::format("{}: port {} sends, and is bound to nothing", owner->name(), number).c_str());
}

void SwitchModel::record(vcd::ProbeHub& probes) {
  auto own = std::make_unique<SwitchSignals>(probes, name(), ports_.size());
  if (own->any()) signals_ = std::move(own);
}

void SwitchModel::activate(Picoseconds now) {
  ++activations_;
  work(now);
}

fabric::Link::Slot SwitchModel::forward(fabric::PacketRef ref, uint32_t p, Picoseconds now,
                                        Picoseconds tail) {
  fabric::Packet& packet = pool_[ref];
  Port& port = ports_[p];
  return message_in_time(name(), packet, [&] {
    fabric::Link& link = port.sends();
    const fabric::Link::Slot slot = link.occupy(now, packet.bytes, tail, packet.id_low, ref);
    packet.queued += slot.start - now;
    const Picoseconds latency = paid_latency(packet.id_low, link.latency());
    packet.latency += latency;
    fabric::Transfer transfer;
    transfer.leave(slot.start, latency, slot.end - slot.start);
    transfer.packet = ref;
    if (signals_) signals_->forwarded(ref, p, now, slot);
    port.send(transfer);
    return slot;
  });
}

NamedRegistry<SwitchMaker>& switch_models() {
  static NamedRegistry<SwitchMaker> registry = [] {
    NamedRegistry<SwitchMaker> r("switch model");
    r.add({"crossbar", "a non-blocking crossbar whose outputs are first come, first served", "weft",
           [](sc_core::sc_module_name name, SwitchContext context, Parameters&) {
             return std::make_unique<Crossbar>(name, std::move(context));
           }});
    return r;
  }();
  return registry;
}

std::unique_ptr<SwitchModel> make_switch(const std::string& implementation, const std::string& owner,
                                         const char* name, SwitchContext context) {
  return make_model(switch_models(), implementation, owner, name,
                    [&](const SwitchMaker& make, Parameters& parameters) {
                      return make(name, std::move(context), parameters);
                    });
}

void SwitchModel::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += in_flight();
  for (const Port& port : ports_) {
    counters.link_bytes += port.link.bytes();
    counters.link_messages += port.link.messages();
  }
}

LinkReport SwitchModel::report(uint32_t port) const {
  SwitchLink link = ways_->link(port);
  LinkReport report(ports_[port].link);
  report.name = name() + link.name;
  report.to = std::move(link.to);
  report.dimension = link.dimension;
  return report;
}

void SwitchModel::for_each_link(const LinkVisitor& visit) const {
  // Without ways it is a part of another component, and on a shared link another module reports.
  for (uint32_t p = 0; ways_ != nullptr && p < ports_.size(); ++p)
    if (ports_[p].shared == nullptr && ways_->sends(p)) visit(report(p));
}

std::string SwitchModel::stall_text() const {
  const std::string why = explain_stall();
  return why.empty() ? why : fmt::format("{}: {}", name(), why);
}

}  // namespace weft
