// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/delta_call.h"

#include <utility>

namespace weft {

DeltaCall::DeltaCall(sc_core::sc_module_name module_name, std::function<void()> call)
    : sc_core::sc_module(module_name), call_(std::move(call)), wake_("wake") {
  SC_HAS_PROCESS(DeltaCall);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

void DeltaCall::run() {
  call_();
}

}  // namespace weft
