// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/npu_model.h"

#include "sc_models/make_model.h"
#include "sc_models/npu.h"
#include "sc_models/remote_npus.h"

namespace weft {

NpuModel::NpuModel(sc_core::sc_module_name name) : sc_core::sc_module(name) {}

NpuModel::~NpuModel() = default;

NamedRegistry<NpuMaker>& npu_models() {
  static NamedRegistry<NpuMaker> registry = [] {
    NamedRegistry<NpuMaker> r("NPU model");
    r.add({kDefaultNpuModel, "runs the nodes of a trace on compute slots, memories and its NMU", "weft",
           [](sc_core::sc_module_name name, const NpuContext& context, Parameters&) {
             return std::make_unique<Npu>(name, context);
           }});
    r.add({kRemoteNpuModel, "its program runs in another process, which weft_net_open() joins", "weft",
           [](sc_core::sc_module_name, const NpuContext& context, Parameters&) -> std::unique_ptr<NpuModel> {
             refuse_remote_npus(context.config);
             return nullptr;
           }});
    return r;
  }();
  return registry;
}

std::unique_ptr<NpuModel> make_npu(const std::string& implementation, const std::string& owner,
                                   const std::string& name, const NpuContext& context) {
  return make_model(
      npu_models(), implementation, owner, name.c_str(),
      [&](const NpuMaker& make, Parameters& parameters) { return make(name.c_str(), context, parameters); });
}

}  // namespace weft
