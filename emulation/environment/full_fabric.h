// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Every rank has its NMU in the machine: the reference (`environment.detail: full`).

#ifndef WEFT_EMULATION_ENVIRONMENT_FULL_FABRIC_H
#define WEFT_EMULATION_ENVIRONMENT_FULL_FABRIC_H

#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <vector>

#include "emulation/environment/fabric.h"
#include "sc_models/machine.h"

namespace weft::emulation {

/// Runs the kernel for so long: sc_start, of whoever owns the simulation.
using AdvanceKernel = std::function<void(const sc_core::sc_time&)>;

class FullFabric final : public Fabric, private NmuClient {
 public:
  /// All outlive it.
  FullFabric(Machine& machine, AdvanceKernel advance);
  ~FullFabric() override;

  void listen(FabricListener& listener) override { listener_ = &listener; }
  Picoseconds now() const override { return sc_core::sc_time_stamp().value(); }
  Picoseconds next() const override;
  void run_to(Picoseconds t) override;
  bool rescue() override { return machine_.rescue(); }
  bool simulates_all() const override { return true; }
  uint32_t begin(const Start& start) override;
  void join(uint32_t operation, uint32_t rank) override;
  void send(uint32_t message, uint32_t source, uint32_t destination, uint64_t bytes) override;
  std::string explain_stall() const override { return machine_.explain_stall(); }

 private:
  struct Operation {
    Start start;
    uint8_t plane = 0;
    uint32_t left = 0;  ///< members that have not finished
  };
  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId rank, const Completion& completion) override;
  void finish_instant();

  Machine& machine_;
  AdvanceKernel advance_;
  FabricListener* listener_ = nullptr;
  bool told_ = false;
  std::map<uint32_t, Operation> operations_;  ///< by stream
};

}  // namespace weft::emulation

#endif
