// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/nmu_model.h"

#include "configs/graph.h"
#include "sc_models/make_model.h"
#include "sc_models/nmu.h"

namespace weft {

std::vector<fabric::LinkType> link_types_of(const Config& config) {
  std::vector<fabric::LinkType> types;
  if (config.graph != nullptr) {
    for (const GraphLink& link : config.graph->spec().links) types.emplace_back(link.rate(), link.latency);
  }
  for (const DimensionConfig& d : config.fabric_dimensions()) types.emplace_back(d.link_rate(), d.latency);
  return types;
}

NmuModel::NmuModel(sc_core::sc_module_name name, NpuId rank) : sc_core::sc_module(name), model_rank_(rank) {}

NmuModel::~NmuModel() = default;

NamedRegistry<NmuMaker>& nmu_models() {
  static NamedRegistry<NmuMaker> registry = [] {
    NamedRegistry<NmuMaker> r("NMU model");
    r.add({kDefaultNmuModel, "ports, routes, forwarding and the collective engine of its NPU", "weft",
           [](sc_core::sc_module_name name, NpuId rank, const NmuContext& context, Parameters&) {
             return std::make_unique<Nmu>(name, rank, context);
           }});
    return r;
  }();
  return registry;
}

std::unique_ptr<NmuModel> make_nmu(const std::string& implementation, const std::string& owner,
                                   const std::string& name, NpuId rank, const NmuContext& context) {
  if (implementation == kDefaultNmuModel) return std::make_unique<Nmu>(name.c_str(), rank, context);
  return make_model(nmu_models(), implementation, owner, name.c_str(),
                    [&](const NmuMaker& make, Parameters& parameters) {
                      return make(name.c_str(), rank, context, parameters);
                    });
}

}  // namespace weft
