// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/settled_call.h"

#include <algorithm>
#include <utility>

namespace weft {

std::vector<SettledCall*> SettledCall::waiting_[SettledCall::kParts];
SettledCall* SettledCall::poller_ = nullptr;

SettledCall::SettledCall(sc_core::sc_module_name module_name, InstantPart part, std::function<void()> call)
    : sc_core::sc_module(module_name), part_(part), call_(std::move(call)), wake_("wake") {
  SC_HAS_PROCESS(SettledCall);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

SettledCall::~SettledCall() {
  for (auto& calls : waiting_) calls.erase(std::remove(calls.begin(), calls.end(), this), calls.end());
  if (poller_ != this) return;
  poller_ = nullptr;
  for (const auto& calls : waiting_) {
    if (!calls.empty()) calls.front()->poll();
  }
}

void SettledCall::request() {
  if (waits_) return;
  waits_ = true;
  waiting_[static_cast<size_t>(part_)].push_back(this);
  poll();
}

void SettledCall::call() {
  if (poller_ == nullptr && !waits_ && !sc_core::sc_pending_activity_at_current_time()) {
    call_();
  } else {
    request();
  }
}

/// Some process must look on.
void SettledCall::poll() {
  if (poller_ != nullptr) return;
  poller_ = this;
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void SettledCall::run() {
  if (sc_core::sc_pending_activity_at_current_time()) {
    wake_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  const auto next =
      std::find_if(std::begin(waiting_), std::end(waiting_), [](const auto& c) { return !c.empty(); });
  if (next == std::end(waiting_)) {
    poller_ = nullptr;
    return;
  }
  try {
    for (SettledCall* call : std::exchange(*next, {})) {
      call->waits_ = false;
      call->call_();
    }
  } catch (...) {
    poller_ = nullptr;
    throw;
  }
  const bool more =
      std::any_of(std::begin(waiting_), std::end(waiting_), [](const auto& c) { return !c.empty(); });
  poller_ = more ? this : nullptr;
  if (more) wake_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace weft
