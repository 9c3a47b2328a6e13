// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The files of the projects that `weft rtl new` makes. BLOCK stands for the block's name.

#ifndef WEFT_SC_MAIN_RTL_TEMPLATES_H
#define WEFT_SC_MAIN_RTL_TEMPLATES_H

#include <string>
#include <vector>

namespace weft::cli {

/// Of one kind of block.
struct RtlTemplate {
  const char* kind;
  const char* rtl;              ///< BLOCK.sv
  const char* adapter;          ///< BLOCK.cpp
  const char* machine;          ///< machine.yaml
  const char* tests = nullptr;  ///< end of CMakeLists.txt; null: a collective
  const char* job = nullptr;    ///< job.txt, which machine.yaml runs; null: none
};

const std::vector<RtlTemplate>& rtl_templates();
/// A memory on AXI4, the collective unit of a switch, and an NPU.
RtlTemplate axi_memory_template();
RtlTemplate unit_template();
RtlTemplate npu_template();
/// CMakeLists.txt of a project.
std::string rtl_project(const RtlTemplate& of);

}  // namespace weft::cli

#endif
