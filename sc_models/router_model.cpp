// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/router_model.h"

#include <fmt/format.h>

#include <utility>

#include "sc_models/make_model.h"

namespace weft {

RouterModel::RouterModel(sc_core::sc_module_name module_name, RouterPlace place)
    : sc_core::sc_module(module_name), place_(std::move(place)) {
  for (uint32_t p = 0; p < place_.ports.size(); ++p) {
    const RouterPlace::Port& port = place_.ports[p];
    borders_.push_back(std::make_unique<fabric::PacketBorder>(
        fmt::format("border{}", p).c_str(),
        port.initiator ? fabric::PacketBorder::Side::initiator : fabric::PacketBorder::Side::target,
        port.terms, place_.pool, [this, p](const fabric::FlitCrossing& crossing) {
          if (place_.crossed) place_.crossed(p, crossing, false);
          arrive(p, crossing);
        }));
  }
  sending_.resize(place_.ports.size() * place_.config.total_vcs());
}

RouterModel::~RouterModel() = default;

void RouterModel::send(uint32_t port, const fabric::FlitCrossing& crossing) {
  if (crossing.kind == fabric::FlitCrossing::Kind::flits && place_.carried) {
    Sending& packet = sending_.at(port * place_.config.total_vcs() + crossing.vc);
    if (crossing.has_head())
      packet = {(crossing.head.id_high & packet::kLastPacket) != 0, crossing.head.bytes};
    packet::OutputLoad load;
    load.flits = crossing.count;
    if (crossing.has_tail()) {
      load.packets = 1;
      load.messages = packet.last ? 1 : 0;
      load.bytes = packet.bytes;
    }
    place_.carried(port, load);
  }
  borders_[port]->enter(crossing);
  if (place_.crossed) place_.crossed(port, crossing, true);
}

NamedRegistry<RouterMaker>& router_models() {
  static NamedRegistry<RouterMaker> registry("router model");
  return registry;
}

std::unique_ptr<RouterModel> make_router(const std::string& implementation, const std::string& owner,
                                         const char* name, RouterPlace place) {
  return make_model(router_models(), implementation, owner, name,
                    [&](const RouterMaker& make, Parameters& parameters) {
                      return make(name, std::move(place), parameters);
                    });
}

void ParkedEnd::receive(const fabric::Transfer&) {
  SC_REPORT_FATAL("weft/sc_models/router_model", "a router sends whose place a block has taken");
}

}  // namespace weft
