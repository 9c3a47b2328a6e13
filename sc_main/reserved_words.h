// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_RESERVED_WORDS_H
#define WEFT_SC_MAIN_RESERVED_WORDS_H

#include <string_view>

namespace weft::cli {

/// Whose keyword a word is: "SystemVerilog" (IEEE 1800-2017, annex B), "C++" (C++20), or "SystemVerilog and
/// C++". "": nobody's.
std::string_view reserved_by(std::string_view word);

}  // namespace weft::cli

#endif
