// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Every kind of signal that a machine can record, for people: docs/signals.md is this table.

#ifndef WEFT_SC_MAIN_SIGNAL_TABLE_H
#define WEFT_SC_MAIN_SIGNAL_TABLE_H

#include <string>
#include <vector>

namespace weft::cli {

struct SignalRow {
  const char* modules;  ///< what has it: "NPU"
  const char* name;     ///< pattern of its name, below `job`: "npu*.state"
  unsigned width;       ///< bits
  const char* values;   ///< of an enumeration, in order, between commas; else ""
  const char* when;     ///< the machines that have it
  const char* meaning;
};

/// A test compares it with what machines declare.
const std::vector<SignalRow>& signal_table();

/// As a page of Markdown.
std::string signal_page();

}  // namespace weft::cli

#endif
