// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The allocators there are. To add one: a file beside this one and a row here.

#include <fmt/format.h>

#include "configs/types.h"
#include "tlm_interconnect/policies/allocation/allocator.h"
#include "tlm_interconnect/policies/allocation/islip_switch.h"
#include "tlm_interconnect/policies/allocation/islip_vc.h"
#include "tlm_interconnect/policies/allocation/round_robin_switch.h"

namespace weft::packet {
namespace {

struct SwitchRow {
  const char* name;
  std::unique_ptr<SwitchAllocator> (*make)(uint32_t ports, uint32_t iterations);
};
struct VcRow {
  const char* name;
  std::unique_ptr<VcAllocator> (*make)(uint32_t ports, uint32_t vcs);
};

template <typename T>
std::unique_ptr<SwitchAllocator> make_switch(uint32_t ports, uint32_t iterations) {
  return std::make_unique<T>(ports, iterations);
}
template <typename T>
std::unique_ptr<VcAllocator> make_vc(uint32_t ports, uint32_t vcs) {
  return std::make_unique<T>(ports, vcs);
}

const SwitchRow kSwitchAllocators[] = {
    {"islip", make_switch<IslipSwitchAllocator>},
    {"round_robin", make_switch<RoundRobinSwitchAllocator>},
};
const VcRow kVcAllocators[] = {
    {"islip", make_vc<IslipVcAllocator>},
};

template <typename Table>
const auto& find(const Table& table, const std::string& name, const char* what) {
  std::string known;
  for (const auto& row : table) {
    if (name == row.name) return row;
    known += known.empty() ? row.name : std::string(", ") + row.name;
  }
  throw UserError(ExitCode::usage, fmt::format("unknown {} '{}': use one of {}", what, name, known));
}

template <typename Table>
std::vector<std::string> names(const Table& table) {
  std::vector<std::string> result;
  for (const auto& row : table) result.emplace_back(row.name);
  return result;
}

}  // namespace

std::unique_ptr<SwitchAllocator> make_switch_allocator(const std::string& name, uint32_t ports,
                                                       uint32_t iterations) {
  return find(kSwitchAllocators, name, "switch allocator").make(ports, iterations);
}
std::unique_ptr<VcAllocator> make_vc_allocator(const std::string& name, uint32_t ports, uint32_t vcs) {
  return find(kVcAllocators, name, "VC allocator").make(ports, vcs);
}
std::vector<std::string> switch_allocator_names() {
  return names(kSwitchAllocators);
}
std::vector<std::string> vc_allocator_names() {
  return names(kVcAllocators);
}

}  // namespace weft::packet
