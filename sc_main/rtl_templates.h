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
  const char* rtl;      ///< BLOCK.sv
  const char* adapter;  ///< BLOCK.cpp
  const char* machine;  ///< machine.yaml
};

const std::vector<RtlTemplate>& rtl_templates();
/// A memory on AXI4, and the collective unit of a switch.
RtlTemplate axi_memory_template();
RtlTemplate unit_template();
/// CMakeLists.txt of all of them.
const char* rtl_project();

}  // namespace weft::cli

#endif
