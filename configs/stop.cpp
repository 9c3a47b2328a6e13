// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/stop.h"

#include <utility>

namespace weft {
namespace {

std::function<void()>& action() {
  static std::function<void()> instance;
  return instance;
}

}  // namespace

std::atomic<int> stop_request{0};

void on_stop(std::function<void()> f) {
  action() = std::move(f);
}

void stop_now() {
  if (action()) action()();
}

}  // namespace weft
