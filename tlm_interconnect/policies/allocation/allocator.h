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

struct SwitchGrant {
  uint32_t input;
  uint32_t output;
};

/// The requests of one cycle: a bit per (input, output).
class SwitchRequests {
 public:
  explicit SwitchRequests(uint32_t ports)
      : by_output(ports, ports), by_input(ports, ports), inputs(ports), outputs(ports), ports_(ports) {}

  bool add(uint32_t input, uint32_t output) {
    if (by_input.contains(input, output)) return false;
    by_input.insert(input, output);
    by_output.insert(output, input);
    inputs.insert(input);
    outputs.insert(output);
    ++count_;
    return true;
  }
  void clear() {
    inputs.for_each([this](uint32_t i) { by_input.clear_row(i); });
    outputs.for_each([this](uint32_t o) { by_output.clear_row(o); });
    inputs.clear();
    outputs.clear();
    count_ = 0;
  }
  uint32_t count() const { return count_; }
  uint32_t ports() const { return ports_; }

  PortMatrix by_output;
  PortMatrix by_input;
  PortSet inputs;
  PortSet outputs;

 private:
  uint32_t ports_;
  uint32_t count_ = 0;
};

class SwitchAllocator {
 public:
  virtual ~SwitchAllocator() = default;
  /// Appends a matching (each input and each output at most once, only requested pairs) to `grants`.
  virtual void allocate(const SwitchRequests& requests, std::vector<SwitchGrant>& grants) = 0;
  /// All that is remembered of one input and one output, as a number: while they deal only with each other,
  /// equal numbers mean equal grants. A request that is alone is granted, whatever is remembered.
  virtual uint64_t memory(uint32_t input, uint32_t output) const = 0;
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
