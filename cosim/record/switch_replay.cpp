// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/switch_replay.h"

#include <fmt/format.h>

#include <utility>

#include "sc_models/unit_model.h"

namespace weft::cosim {

/// Messages leave as they have left in the recording.
class SwitchReplay::Ways final : public SwitchWays {
 public:
  explicit Ways(const Recording& recording) : header_(recording.header) {
    for (const RecordedEvent& event : recording.events) {
      if (event.into) continue;
      const auto& crossing = std::get<fabric::Crossing>(event.what);
      ports_[key_of(crossing)] = event.port;
      by_destination_[crossing.destination] = event.port;
    }
  }
  uint32_t output(const fabric::Packet& packet) const override {
    const auto known = ports_.find({packet.id_low, packet.id_high, packet.source, packet.destination});
    if (known != ports_.end()) return known->second;
    // It had not left when the recording ended.
    const auto other = by_destination_.find(packet.destination);
    return other == by_destination_.end() ? 0 : other->second;
  }
  SwitchLink link(uint32_t port) const override {
    return {"." + std::to_string(port), header_.ports[port].peer, 0};
  }
  uint32_t turn(uint32_t port, const fabric::Packet& packet) const override {
    return header_.turn_by_sender ? packet.source : port;
  }

 private:
  const RecordingHeader& header_;
  std::map<MessageKey, uint32_t> ports_;
  std::map<uint32_t, uint32_t> by_destination_;
};

/// The elements that recorded messages carry.
class SwitchReplay::Elements final : public fabric::CrossingElements {
 public:
  std::vector<std::byte> take(uint32_t handle) override {
    free_.push_back(handle);
    return std::move(kept_[handle - 1]);
  }
  uint32_t put(const std::vector<std::byte>& bytes) override {
    if (free_.empty()) {
      kept_.emplace_back();
      free_.push_back(static_cast<uint32_t>(kept_.size()));
    }
    const uint32_t handle = free_.back();
    free_.pop_back();
    kept_[handle - 1] = bytes;
    return handle;
  }

 private:
  std::vector<std::vector<std::byte>> kept_;
  std::vector<uint32_t> free_;
};

namespace {

const Recording& checked_switch(const Recording& recording) {
  check_kind(recording, "switch", "message");
  return recording;
}

}  // namespace

SwitchReplay::SwitchReplay(sc_core::sc_module_name module_name, const Recording& recording, const Make& make,
                           const ReplayOptions& options)
    : sc_core::sc_module(module_name),
      options_(options),
      report_(checked_switch(recording)),
      answers_(recording, options_, report_),
      elements_(std::make_unique<Elements>()),
      wheel_("wheel"),
      feed_(recording) {
  for (const RecordedEvent& event : recording.events) {
    const auto& crossing = std::get<fabric::Crossing>(event.what);
    if (event.into && (crossing.destination & kUnitPeer) != 0)
      throw UserError(ExitCode::usage,
                      fmt::format("the recorded switch '{}' has a collective unit, which is no part of a "
                                  "switch's replay; record a job without the algorithm `in_switch`",
                                  recording.header.block));
  }
  SwitchContext context{{}, std::make_shared<Ways>(recording), Switching::cut_through, pool_, wheel_};
  if (!recording.header.cut_through) context.switching = Switching::store_and_forward;
  context.elements = elements_.get();
  for (const RecordedPort& port : recording.header.ports) {
    types_.emplace_back(Rate{port.rate, static_cast<uint32_t>(port.rate_per)}, port.latency);
    context.ports.push_back({&types_.back(), port.initiator});
  }
  switch_ = make("block", std::move(context));
  for (uint32_t p = 0; p < recording.header.ports.size(); ++p) {
    const RecordedPort& port = recording.header.ports[p];
    borders_.emplace_back();
    if (port.peer.empty()) continue;
    borders_.back() = std::make_unique<fabric::Border>(
        fmt::format("port{}", p).c_str(),
        port.initiator ? fabric::Border::Side::target : fabric::Border::Side::initiator, pool_,
        [this, p](const fabric::Crossing& crossing) { answers_.answered(p, crossing); }, elements_.get());
    if (port.initiator) {
      fabric::join(*switch_->ports()[p].initiator, *borders_[p]->target());
    } else {
      fabric::join(*borders_[p]->initiator(), *switch_->ports()[p].target);
    }
  }
  SC_HAS_PROCESS(SwitchReplay);
  SC_METHOD(drive);
  sensitive << feed_.due();
}

SwitchReplay::~SwitchReplay() = default;

void SwitchReplay::drive() {
  feed_.enter([this](const RecordedEvent& event) {
    ++driven_;
    borders_[event.port]->enter(std::get<fabric::Crossing>(event.what));
  });
}

void SwitchReplay::finish() {
  answers_.finish(dynamic_cast<const FaultTeller*>(switch_.get()));
}

}  // namespace weft::cosim
