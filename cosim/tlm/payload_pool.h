// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory manager for generic payloads.

#ifndef WEFT_COSIM_TLM_PAYLOAD_POOL_H
#define WEFT_COSIM_TLM_PAYLOAD_POOL_H

#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

namespace weft::cosim {

/// Hands out payloads with one reference, and takes them back when the last reference is released. Must
/// outlive its payloads' last reference.
class PayloadPool final : public tlm::tlm_mm_interface {
 public:
  /// A payload with room for what its owner needs. The pool does not look at it.
  struct Payload : tlm::tlm_generic_payload {
    explicit Payload(tlm::tlm_mm_interface* manager) : tlm::tlm_generic_payload(manager) {}
    void* owner = nullptr;
    uint64_t tag = 0;
    std::vector<unsigned char> enables;
  };

  PayloadPool() = default;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;
  /// Extensions of payloads that never came back belong to others.
  ~PayloadPool() override {
    for (const auto& payload : all_)
      for (unsigned i = 0; i < tlm::max_num_extensions(); ++i) payload->set_extension(i, nullptr);
  }

  /// Every attribute is as the TLM-2.0 standard says of a new payload.
  Payload& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Payload>(this));
      free_.push_back(all_.back().get());
    }
    Payload& payload = *free_.back();
    free_.pop_back();
    ++live_;
    payload.acquire();
    return payload;
  }

  /// Payloads that somebody still has. 0 when nothing is under way.
  uint64_t live() const { return live_; }

  void free(tlm::tlm_generic_payload* payload) override {
    auto* const mine = static_cast<Payload*>(payload);
    mine->reset();  // auto extensions
    mine->set_command(tlm::TLM_IGNORE_COMMAND);
    mine->set_address(0);
    mine->set_data_ptr(nullptr);
    mine->set_data_length(0);
    mine->set_byte_enable_ptr(nullptr);
    mine->set_byte_enable_length(0);
    mine->set_streaming_width(0);
    mine->set_dmi_allowed(false);
    mine->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    mine->owner = nullptr;
    mine->tag = 0;
    --live_;
    free_.push_back(mine);
  }

 private:
  std::vector<std::unique_ptr<Payload>> all_;
  std::vector<Payload*> free_;
  uint64_t live_ = 0;
};

}  // namespace weft::cosim

#endif
