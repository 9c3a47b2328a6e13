// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/unit_model.h"

#include "sc_models/make_model.h"
#include "sc_models/program_unit.h"
#include "sc_models/switch_unit.h"

namespace weft {

UnitModel::UnitModel(sc_core::sc_module_name name) : sc_core::sc_module(name) {}

UnitModel::~UnitModel() = default;

NamedRegistry<UnitMaker>& unit_models() {
  static NamedRegistry<UnitMaker> registry = [] {
    NamedRegistry<UnitMaker> r("collective unit model");
    r.add({kDefaultUnitModel,
           "buffers partial sums of blocks, and sends results with their last contribution", kOwnModels,
           [](sc_core::sc_module_name name, const UnitPlace& place, Parameters&) {
             return std::make_unique<SwitchUnit>(name, place);
           }});
    return r;
  }();
  return registry;
}

std::unique_ptr<UnitModel> make_unit(const char* name, const UnitPlace& place) {
  if (place.fabric.config.collectives.library.on()) return std::make_unique<ProgramUnit>(name, place);
  return make_model(
      unit_models(), place.context.implementation, place.context.owner, name,
      [&](const UnitMaker& make, Parameters& parameters) { return make(name, place, parameters); });
}

}  // namespace weft
