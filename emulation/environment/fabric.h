// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an emulated job asks of the simulated world between its ranks: collectives that ranks join,
// point-to-point messages, and time. FullFabric simulates every rank.

#ifndef WEFT_EMULATION_ENVIRONMENT_FABRIC_H
#define WEFT_EMULATION_ENVIRONMENT_FABRIC_H

#include <cstdint>
#include <memory>
#include <string>

#include "configs/types.h"
#include "workload/collectives/engine.h"
#include "workload/collectives/plan.h"

namespace weft::emulation {

/// Hears what is over, at Fabric::now().
class FabricListener {
 public:
  virtual ~FabricListener() = default;
  /// A rank's part of a collective.
  virtual void operation_done(uint32_t operation, uint32_t rank, const collectives::CollectiveDone& done) = 0;
  /// The last byte of a message has left its sender.
  virtual void message_left(uint32_t message) = 0;
  /// A message is at its receiver, endpoint delay included.
  virtual void message_there(uint32_t message, const Completion& completion) = 0;
};

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual void listen(FabricListener& listener) = 0;

  virtual Picoseconds now() const = 0;
  /// Time of the next event; kNever: nothing is left to do.
  virtual Picoseconds next() const = 0;
  /// Simulates up to and including `t` >= now(). Returns earlier, at the end of an instant, when its listener
  /// has heard something.
  virtual void run_to(Picoseconds t) = 0;
  /// Nothing moves, and ranks wait: starts what waits for a slot. False: there was nothing.
  virtual bool rescue() = 0;

  /// Do emulated ranks join and send one by one? Otherwise the fabric knows what they do.
  virtual bool simulates_all() const = 0;

  struct Start {
    std::shared_ptr<const collectives::CollectivePlan> plan;
    int32_t priority = 0;
    Picoseconds delay = 0;  ///< by which emulated members join later, if the fabric does not simulate them
  };
  /// A collective; returns its number. Its members join later.
  virtual uint32_t begin(const Start& start) = 0;
  /// Now.
  virtual void join(uint32_t operation, uint32_t rank) = 0;
  /// A message between two different ranks, now. `message`: the caller's number.
  virtual void send(uint32_t message, uint32_t source, uint32_t destination, uint64_t bytes) = 0;

  /// Why nothing moves any more; may be empty.
  virtual std::string explain_stall() const = 0;
};

}  // namespace weft::emulation

#endif
