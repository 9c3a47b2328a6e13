// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/nmu_tap.h"

#include <fmt/format.h>

#include <stdexcept>

#include "configs/types.h"

namespace weft {

uint32_t ExternalMessages::add(ExternalMessage& message) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(messages_.size()));
    messages_.push_back(nullptr);
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  messages_[number] = &message;
  return number;
}

ExternalMessage& ExternalMessages::take(uint32_t number) {
  free_.push_back(number);
  return *messages_[number];
}

NmuTap::NmuTap(NmuModel& nmu, ExternalMessages& messages) : nmu_(nmu), messages_(messages) {
  nmu_.attach(*this);
}

void NmuTap::attach(NmuClient& client) {
  if (client_ != nullptr) throw std::logic_error(fmt::format("{} has two clients", nmu_.name()));
  client_ = &client;
}

void NmuTap::send(NpuId destination, uint32_t tag, uint32_t ordinal, uint64_t bytes, uint32_t data,
                  uint8_t plane) {
  if (tag == kExternalTag)
    throw UserError(ExitCode::trace,
                    fmt::format("rank {} sends a message with the tag {}, which is that of accesses from "
                                "outside; give the nodes of the trace another tag",
                                index(rank()), tag));
  nmu_.send(destination, tag, ordinal, bytes, data, plane);
}

void NmuTap::send_external(NpuId destination, uint64_t bytes, ExternalMessage& message) {
  nmu_.send(destination, kExternalTag, messages_.add(message), bytes);
}

}  // namespace weft
