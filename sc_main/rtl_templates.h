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
  const char* rtl;            ///< BLOCK.sv
  const char* adapter;        ///< BLOCK.cpp
  const char* machine;        ///< machine.yaml
  std::string tests = {};     ///< end of CMakeLists.txt; empty: a collective
  const char* job = nullptr;  ///< job.txt, which machine.yaml runs; null: none
};

const std::vector<RtlTemplate>& rtl_templates();
/// A memory on AXI4, the collective unit of a switch, and an NPU.
RtlTemplate axi_memory_template();
RtlTemplate unit_template();
RtlTemplate npu_template();
/// RtlTemplate::tests by a collective of that size, without data and with it. `about`: lines of a comment.
std::string collective_tests(const char* about, const char* size);
/// CMakeLists.txt of a project.
std::string rtl_project(const RtlTemplate& of);

}  // namespace weft::cli

#endif
