// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/system.h"

#include <fmt/format.h>

namespace weft {

System::System(sc_core::sc_module_name name, const Config& config, NmuClient& client)
    : sc_core::sc_module(name), config_(config), geometry_(config) {
  for (const DimensionConfig& d : config_.dimensions) link_types_.emplace_back(d.link_rate(), d.latency);
  nmus_.reserve(geometry_.npus());
  for (uint32_t r = 0; r < geometry_.npus(); ++r) {
    nmus_.push_back(std::make_unique<Nmu>(("nmu" + std::to_string(r)).c_str(), NpuId{r}, config_, geometry_,
                                          link_types_, pool_, client));
  }
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const DimensionConfig& dimension = config_.dimensions[d];
    if (dimension.size <= 1) continue;
    if (dimension.fidelity == Fidelity::analytical || dimension.kind == DimensionKind::fully_connected) {
      build_direct(d);
    } else if (dimension.kind == DimensionKind::switch_) {
      build_switches(d);
    } else {
      build_ring(d);
    }
  }
}

System::~System() = default;

void System::build_ring(uint32_t d) {
  for (uint32_t r = 0; r < npus(); ++r) {
    Nmu::Port* up = nmus_[r]->port(d, false);
    if (up == nullptr) continue;  // the upper end of a mesh
    const uint32_t next =
        geometry_.with_coordinate(r, d, (geometry_.coordinate(r, d) + 1) % geometry_.size(d));
    up->initiator->bind(*nmus_[next]->port(d, true)->target);
  }
}

void System::build_direct(uint32_t d) {
  direct_.push_back(std::make_unique<fabric::DirectFabric>(("direct" + std::to_string(d)).c_str(), npus()));
  for (uint32_t r = 0; r < npus(); ++r) direct_.back()->bind_member(*nmus_[r]->port(d)->initiator);
}

void System::build_switches(uint32_t d) {
  uint32_t number = 0;
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    const std::string name = "switch" + std::to_string(d) + "_" + std::to_string(number++);
    switches_.push_back(
        std::make_unique<FabricSwitch>(name.c_str(), d, config_, geometry_, link_types_[d], pool_));
    switch_dimensions_.push_back(d);
    switch_lines_.push_back(r);
    for (uint32_t c = 0; c < geometry_.size(d); ++c) {
      nmus_[geometry_.with_coordinate(r, d, c)]->port(d)->initiator->bind(switches_.back()->socket);
    }
  }
}

bool System::rescue() {
  bool any = false;
  for (const auto& nmu : nmus_) any = nmu->rescue() || any;
  return any;
}

std::string System::link_name(const Nmu& nmu, const Nmu::Port& port, size_t i) const {
  const uint32_t r = index(nmu.rank());
  const uint32_t d = port.dimension;
  const DimensionConfig& dimension = config_.dimensions[d];
  const uint32_t c = geometry_.coordinate(r, d);
  switch (dimension.kind) {
    case DimensionKind::switch_:
      return fmt::format("nmu{}.d{}->switch", r, d);
    case DimensionKind::fully_connected: {
      const auto peer = static_cast<uint32_t>(i < c ? i : i + 1);
      return fmt::format("nmu{}.d{}->nmu{}", r, d, geometry_.with_coordinate(r, d, peer));
    }
    default: {
      const bool down = port.descending || i == 1;
      const uint32_t n = dimension.size;
      return fmt::format("nmu{}.d{}{}->nmu{}", r, d, down ? "-" : "+",
                         geometry_.with_coordinate(r, d, down ? (c + n - 1) % n : (c + 1) % n));
    }
  }
}

std::string System::switch_link_name(size_t s, size_t i) const {
  const uint32_t d = switch_dimensions_[s];
  return fmt::format("{}->nmu{}", switches_[s]->basename(),
                     geometry_.with_coordinate(switch_lines_[s], d, static_cast<uint32_t>(i)));
}

System::Totals System::totals() const {
  Totals t;
  for (const auto& nmu : nmus_) {
    t.messages_submitted += nmu->messages_submitted();
    t.messages_delivered += nmu->messages_delivered();
    t.bytes_submitted += nmu->bytes_submitted();
    t.bytes_delivered += nmu->bytes_delivered();
    t.activations += nmu->activations();
    t.in_flight += nmu->in_flight();
    t.out_of_order_starts += nmu->engine().out_of_order_starts();
    for (const Nmu::Port& port : nmu->ports()) {
      for (uint32_t i = 0; port.nmu != nullptr && i < port.links(); ++i) {
        t.link_bytes += port.link(i).bytes();
        t.link_messages += port.link(i).messages();
      }
    }
  }
  for (const auto& s : switches_) {
    t.activations += s->activations();
    t.in_flight += s->in_flight();
    for (const fabric::Link& link : s->links()) {
      t.link_bytes += link.bytes();
      t.link_messages += link.messages();
    }
  }
  return t;
}

std::vector<std::string> System::check_conservation() const {
  std::vector<std::string> broken;
  const Totals t = totals();
  if (t.messages_submitted != t.messages_delivered) {
    broken.push_back(fmt::format("{} messages were submitted and {} delivered", t.messages_submitted,
                                 t.messages_delivered));
  }
  if (t.bytes_submitted != t.bytes_delivered) {
    broken.push_back(
        fmt::format("{} bytes were submitted and {} delivered", t.bytes_submitted, t.bytes_delivered));
  }
  if (pool_.live() != 0) broken.push_back(fmt::format("{} packets were never released", pool_.live()));
  if (t.in_flight != 0)
    broken.push_back(fmt::format("{} messages are still in NMUs and switches", t.in_flight));
  return broken;
}

}  // namespace weft
