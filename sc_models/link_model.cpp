// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/link_model.h"

#include "sc_models/make_model.h"

namespace weft {

LinkModel::LinkModel(sc_core::sc_module_name module_name, const LinkContext& context)
    : sc_core::sc_module(module_name),
      near_(
          "near", fabric::Border::Side::target, context.pool,
          [this](const fabric::Crossing& crossing) { cross(true, crossing); }, context.elements),
      far_(
          "far", fabric::Border::Side::initiator, context.pool,
          [this](const fabric::Crossing& crossing) { cross(false, crossing); }, context.elements) {}

LinkModel::~LinkModel() = default;

NamedRegistry<LinkMaker>& link_models() {
  static NamedRegistry<LinkMaker> registry("link model");
  return registry;
}

std::unique_ptr<LinkModel> make_link(const std::string& implementation, const std::string& owner,
                                     const char* name, const LinkContext& context) {
  return make_model(
      link_models(), implementation, owner, name,
      [&](const LinkMaker& make, Parameters& parameters) { return make(name, context, parameters); });
}

}  // namespace weft
