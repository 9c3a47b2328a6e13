// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_GTKWAVE_VIEW_H
#define WEFT_VCD_GTKWAVE_VIEW_H

#include <cstddef>
#include <string>
#include <vector>

#include "vcd/vcd_writer.h"

namespace weft::vcd {

/// The most traces a view shows: GTKWave opens more only slowly, and nobody scrolls through them. The rest is
/// in its signal tree, and a heading says how many they are.
constexpr size_t kMaxViewTraces = 4096;

/// A part of a view: the signals that a pattern selects and that no section before it has.
struct ViewSection {
  std::string title;
  std::string signals;  ///< patterns (Glob)
  bool folded =
      false;  ///< a closed group, with a heading for each scope; else its signals one below the other
  size_t most = kMaxViewTraces;  ///< more go on to the next section that selects them
};

/// Writes a GTKWave save file for the writer's signals, and beside it one translation file for every table of
/// enumeration names (<view without extension>.enum<N>.txt). First come the sections in their order, then all
/// other signals. Within one, signals stand in order of declaration, those of a scope together: bits, decimal
/// numbers, reals as analog steps, enumerations by name. The view names the .vcd file by its absolute path.
/// Returns the number of traces, headings and groups not counted. Throws WriteError.
size_t write_gtkwave_view(const VcdWriter& writer, const std::string& path, const std::string& dump_file = "",
                          const std::vector<ViewSection>& sections = {});

}  // namespace weft::vcd

#endif
