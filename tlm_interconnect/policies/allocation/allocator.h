// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Allocators of a router: which input gets which output of the crossbar, and which waiting head gets which
// output VC. Kernel-free. An allocator keeps only its round-robin pointers; it sees requests of one cycle and
// answers in it.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ALLOCATOR_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ALLOCATOR_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/port_set.h"

namespace weft::packet {

/// One input VC that could send by an output: asked for, or granted.
struct SwitchRequest {
  uint32_t input;
  uint32_t output;
  uint32_t vc;  ///< of the input
};

/// The requests of one cycle. Mostly no two of them are of one input or for one output. So long they are only
/// a list; a bit per (input, output) is written where there is something to arbitrate.
class SwitchRequests {
 public:
  explicit SwitchRequests(uint32_t ports)
      : ports_(ports), inputs_(ports), outputs_(ports), by_output_(ports, ports), by_input_(ports, ports) {}

  /// A second request of the same input for the same output does nothing.
  void add(uint32_t input, uint32_t output, uint32_t vc) {
    const bool shared = inputs_.contains(input) || outputs_.contains(output);
    if (shared && !conflict_) {
      if (known(input, output)) return;
      conflict_ = true;
      vcs_.resize(size_t{ports_} * ports_);
      for (const SwitchRequest& r : list_) write(r);
    }
    if (conflict_ && by_input_.contains(input, output)) return;
    inputs_.insert(input);
    outputs_.insert(output);
    list_.push_back({input, output, vc});
    if (conflict_) write(list_.back());
  }
  void clear() {
    if (conflict_) {
      for (const SwitchRequest& r : list_) {
        by_input_.clear_row(r.input);
        by_output_.clear_row(r.output);
      }
      conflict_ = false;
    }
    inputs_.clear();
    outputs_.clear();
    list_.clear();
  }

  const std::vector<SwitchRequest>& list() const { return list_; }
  const PortSet& inputs() const { return inputs_; }
  const PortSet& outputs() const { return outputs_; }
  /// Two of them are of one input, or for one output. Else all can be granted, and the three below know
  /// nothing.
  bool conflict() const { return conflict_; }
  const PortMatrix& by_output() const { return by_output_; }
  const PortMatrix& by_input() const { return by_input_; }
  SwitchRequest of(uint32_t input, uint32_t output) const {
    return {input, output, vcs_[size_t{input} * ports_ + output]};
  }

 private:
  bool known(uint32_t input, uint32_t output) const {
    for (const SwitchRequest& r : list_) {
      if (r.input == input && r.output == output) return true;
    }
    return false;
  }
  void write(const SwitchRequest& r) {
    by_input_.insert(r.input, r.output);
    by_output_.insert(r.output, r.input);
    vcs_[size_t{r.input} * ports_ + r.output] = static_cast<uint8_t>(r.vc);
  }

  std::vector<SwitchRequest> list_;
  bool conflict_ = false;
  const uint32_t ports_;
  PortSet inputs_;
  PortSet outputs_;
  PortMatrix by_output_;
  PortMatrix by_input_;
  std::vector<uint8_t> vcs_;  ///< per input x output; empty until the first conflict
};

class SwitchAllocator {
 public:
  virtual ~SwitchAllocator() = default;
  /// Appends a matching (each input and each output at most once, only requested pairs) to `grants`.
  void allocate(const SwitchRequests& requests, std::vector<SwitchRequest>& grants) {
    if (requests.conflict()) {
      arbitrate(requests, grants);
      return;
    }
    for (const SwitchRequest& r : requests.list()) {
      take_turn(r.input, r.output);
      grants.push_back(r);
    }
  }
  /// All that is remembered of one input and one output, as a number: while they deal only with each other,
  /// equal numbers mean equal grants. A request that is alone is granted, whatever is remembered.
  virtual uint64_t memory(uint32_t input, uint32_t output) const = 0;

 protected:
  virtual void arbitrate(const SwitchRequests& requests, std::vector<SwitchRequest>& grants) = 0;
  /// The input has been granted the output: others go before them next time.
  virtual void take_turn(uint32_t input, uint32_t output) = 0;
};

/// One waiting head: input VC `input` (port x VCs + VC) may take any VC of `mask` (all free) at `port`.
struct VcRequest {
  uint32_t input;
  uint32_t port;
  VcMask mask;
  uint32_t granted;  ///< answer: the VC, or kNoVc
};
constexpr uint32_t kNoVc = ~0u;

class VcAllocator {
 public:
  virtual ~VcAllocator() = default;
  /// Fills `granted`; no output VC is given twice. Requests come in ascending order of `input`.
  virtual void allocate(std::vector<VcRequest>& requests) = 0;
  /// All that is remembered of an input VC and of an output VC (port x VCs + VC): which output VC the one
  /// took last, and which input VC took the other one last. Both take turns: the next VC of the same port is
  /// the first choice, and the lowest one where the last was of another port. So while the VCs of one input
  /// ask for those of one output, grants stay the same but for their names if every VC is called by the name
  /// of the next one.
  virtual uint32_t last_output(uint32_t input) const = 0;
  virtual uint32_t last_input(uint32_t output) const = 0;
  virtual void set_last_output(uint32_t input, uint32_t output) = 0;
  virtual void set_last_input(uint32_t output, uint32_t input) = 0;
};

/// By name from the registry tables; an unknown name throws UserError and names the ones there are.
std::unique_ptr<SwitchAllocator> make_switch_allocator(const std::string& name, uint32_t ports,
                                                       uint32_t iterations);
std::unique_ptr<VcAllocator> make_vc_allocator(const std::string& name, uint32_t ports, uint32_t vcs);
std::vector<std::string> switch_allocator_names();
std::vector<std::string> vc_allocator_names();

}  // namespace weft::packet

#endif
