// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The seam between an NPU and its NMU. The NPU (or whoever drives the NMU) calls FabricService. The NMU
// answers through NmuClient.

#ifndef WEFT_SC_MODELS_FABRIC_SERVICE_H
#define WEFT_SC_MODELS_FABRIC_SERVICE_H

#include <cstdint>
#include <memory>

#include "workload/collectives/engine.h"
#include "workload/seam.h"

namespace weft {

/// What an NMU tells its NPU (or whoever drives it).
class NmuClient {
 public:
  virtual ~NmuClient() = default;
  virtual void collective_done(NpuId rank, const collectives::CollectiveDone& done) = 0;
  /// The last byte of a message sent with FabricService::send() has left this NMU.
  virtual void message_injected(NpuId rank, NpuId destination, const MessageId& id) = 0;
  /// A point-to-point message has arrived (endpoint delay included).
  virtual void message_arrived(NpuId rank, const Completion& completion) = 0;
};

class FabricService {
 public:
  virtual ~FabricService() = default;

  /// Who hears of this NMU's events from now on. Throws std::logic_error when somebody else does already.
  virtual void attach(NmuClient& client) = 0;
  /// Nobody hears any more. Call when nothing is on its way.
  virtual void detach() = 0;

  /// Starts this NPU's part of a collective at the current time; NmuClient::collective_done() follows,
  /// perhaps before this returns. `stream`: the same number on every member. `plane`: the fidelity plane
  /// (graph::FidelityRules); 0: no rule.
  virtual void start_collective(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                                int32_t priority = 0, uint8_t plane = 0) = 0;
  /// Sends a point-to-point message; message_injected() here and message_arrived() there follow. `data`:
  /// payload.
  virtual void send(NpuId destination, uint32_t tag, uint32_t ordinal, uint64_t bytes,
                    uint32_t data = kNoData, uint8_t plane = 0) = 0;
  /// The NPU waits for a point-to-point message of `source`, or does not any more. Its later collectives may
  /// depend on that message (collectives::SlotWaits).
  virtual void message_awaited(NpuId source, bool awaited) = 0;
};

}  // namespace weft

#endif
