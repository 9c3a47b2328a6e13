// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Between an NPU and its NMU: lets others than the NPU send messages by the same NMU, over the same links.
// cosim/tlm/mm_to_link.h sends memory accesses of SystemC modules of others so.

#ifndef WEFT_SC_MODELS_NMU_TAP_H
#define WEFT_SC_MODELS_NMU_TAP_H

#include <cstdint>
#include <functional>
#include <memory>
#include <tlm>
#include <vector>

#include "sc_models/fabric_service.h"
#include "sc_models/nmu_model.h"

namespace weft {

/// Tag of messages that are no job's. A job that uses it on an NMU with a tap is refused.
constexpr uint32_t kExternalTag = 0xFFFF'FFF0;

/// Something that crosses the fabric. It stays until it has arrived.
class ExternalMessage {
 public:
  virtual ~ExternalMessage() = default;
  /// It is at its destination; the endpoint delay is over. Called by the NMU's process: do not send from
  /// here.
  virtual void arrived() = 0;
};

/// What serves memory accesses that come to an NMU by messages.
class ExternalMemory {
 public:
  /// Complete at the absolute time `at` (>= now).
  using Done = std::function<void(tlm::tlm_response_status status, Picoseconds at)>;
  virtual ~ExternalMemory() = default;
  /// The access of `payload` begins now, at `address` in place of the payload's and with bytes
  /// [offset, offset + length) of its data. `enables`: null, or one by byte of these.
  struct Part {
    uint64_t address = 0;
    uint32_t offset = 0;
    uint32_t length = 0;
    uint32_t width = 0;  ///< streaming width
    unsigned char* enables = nullptr;
    uint32_t enable_length = 0;
  };
  virtual void access(tlm::tlm_generic_payload& payload, const Part& part, Done done) = 0;
  /// A response leaves for `destination` at `at` (>= now), with so many bytes of data.
  virtual void respond(NpuId destination, uint64_t bytes, ExternalMessage& message, Picoseconds at) = 0;
  /// transport_dbg.
  virtual unsigned debug(tlm::tlm_generic_payload& payload) = 0;
  /// Bytes; 0: unlimited.
  virtual uint64_t capacity() const = 0;
};

/// The messages of all taps that are under way.
class ExternalMessages {
 public:
  uint32_t add(ExternalMessage& message);
  ExternalMessage& take(uint32_t number);
  size_t under_way() const { return messages_.size() - free_.size(); }

 private:
  std::vector<ExternalMessage*> messages_;
  std::vector<uint32_t> free_;
};

class NmuTap final : public FabricService, private NmuClient {
 public:
  /// All outlive it. The NMU has no client yet.
  NmuTap(NmuModel& nmu, ExternalMessages& messages);

  /// Sends to the NMU of another rank, which has a tap, too.
  void send_external(NpuId destination, uint64_t bytes, ExternalMessage& message);
  /// What is asked by messages to this NMU; null: nothing.
  ExternalMemory* memory = nullptr;

  NpuId rank() const { return nmu_.rank(); }
  bool attached() const { return client_ != nullptr; }

  // FabricService
  void attach(NmuClient& client) override;
  void detach() override { client_ = nullptr; }
  void start_collective(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                        int32_t priority, uint8_t plane) override {
    nmu_.start_collective(stream, std::move(plan), priority, plane);
  }
  /// Throws UserError for kExternalTag.
  void send(NpuId destination, uint32_t tag, uint32_t ordinal, uint64_t bytes, uint32_t data,
            uint8_t plane) override;
  void message_awaited(NpuId source, bool awaited) override { nmu_.message_awaited(source, awaited); }

 private:
  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override {
    client_->collective_done(rank, done);
  }
  void message_injected(NpuId rank, NpuId destination, const MessageId& id) override {
    if (id.round != kExternalTag) client_->message_injected(rank, destination, id);
  }
  void message_arrived(NpuId rank, const Completion& completion) override {
    if (completion.id.round != kExternalTag) return client_->message_arrived(rank, completion);
    messages_.take(completion.id.stream).arrived();
  }

  NmuModel& nmu_;
  ExternalMessages& messages_;
  NmuClient* client_ = nullptr;
};

}  // namespace weft

#endif
