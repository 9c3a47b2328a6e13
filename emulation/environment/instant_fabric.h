// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A fabric on which nothing takes time: collectives are over when the last member has joined, messages are
// there at once. For `weft emulate --discover`, which asks what ranks do and not how long it takes.

#ifndef WEFT_EMULATION_ENVIRONMENT_INSTANT_FABRIC_H
#define WEFT_EMULATION_ENVIRONMENT_INSTANT_FABRIC_H

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "emulation/environment/fabric.h"

namespace weft::emulation {

class InstantFabric final : public Fabric {
 public:
  void listen(FabricListener& listener) override { listener_ = &listener; }
  Picoseconds now() const override { return now_; }
  Picoseconds next() const override { return due_.empty() ? kNever : now_; }
  void run_to(Picoseconds t) override;
  bool rescue() override { return false; }
  bool simulates_all() const override { return true; }
  uint32_t begin(const Start& start) override;
  void join(uint32_t operation, uint32_t rank) override;
  void send(uint32_t message, uint32_t source, uint32_t destination, uint64_t bytes) override;
  std::string explain_stall() const override { return {}; }

 private:
  struct Operation {
    uint32_t members = 0;
    std::vector<uint32_t> joined;
  };

  FabricListener* listener_ = nullptr;
  Picoseconds now_ = 0;
  uint32_t next_operation_ = 1;
  std::map<uint32_t, Operation> operations_;
  std::deque<std::function<void()>> due_;  ///< what the listener has to hear now
};

}  // namespace weft::emulation

#endif
