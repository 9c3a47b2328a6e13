// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_GTKWAVE_VIEW_H
#define WEFT_VCD_GTKWAVE_VIEW_H

#include <cstddef>
#include <string>

#include "vcd/vcd_writer.h"

namespace weft::vcd {

/// The most traces a view shows: GTKWave opens more only slowly, and nobody scrolls through them. The rest is
/// in its signal tree, and a heading says how many they are.
constexpr size_t kMaxViewTraces = 4096;

/// Writes a GTKWave save file for the writer's signals, and beside it one translation file for every table of
/// enumeration names (<view without extension>.enum<N>.txt). Signals stand in order of declaration under a
/// heading for each scope: bits, decimal numbers, reals as analog steps, enumerations by name. The view names
/// the .vcd file by its absolute path. Returns the number of traces, headings not counted. Throws WriteError.
size_t write_gtkwave_view(const VcdWriter& writer, const std::string& path,
                          const std::string& dump_file = "");

}  // namespace weft::vcd

#endif
