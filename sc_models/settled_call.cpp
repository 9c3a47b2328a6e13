// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/settled_call.h"

#include <algorithm>
#include <utility>

namespace weft {

std::vector<SettledCall*> SettledCall::waiting_;

SettledCall::SettledCall(sc_core::sc_module_name module_name, std::function<void()> call)
    : sc_core::sc_module(module_name), call_(std::move(call)), wake_("wake") {
  SC_HAS_PROCESS(SettledCall);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

SettledCall::~SettledCall() {
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), this), waiting_.end());
}

void SettledCall::request() {
  if (std::find(waiting_.begin(), waiting_.end(), this) != waiting_.end()) return;
  waiting_.push_back(this);
  if (waiting_.size() == 1) wake_.notify(sc_core::SC_ZERO_TIME);
}

void SettledCall::run() {
  if (sc_core::sc_pending_activity_at_current_time()) {
    wake_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  const std::vector<SettledCall*> calls = std::exchange(waiting_, {});
  for (SettledCall* call : calls) call->call_();
}

}  // namespace weft
