// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The rules every source of the project keeps, whatever it does.

#ifndef WEFT_TESTS_ROOMS_SOURCE_RULES_H
#define WEFT_TESTS_ROOMS_SOURCE_RULES_H

#include <map>
#include <string>
#include <vector>

namespace weft::test {

/// Relative path from the repository's root -> text.
using Sources = std::map<std::string, std::string>;

/// Every source below `root`, in the folders the rules apply to.
Sources read_sources(const std::string& root);

/// One line "file:line: what is wrong" for each violation:
///  - a room includes another one against the direction of docs (sc_main -> sc_models -> workload, ...)
///  - a room includes a header by a path that does not begin at the root, or something in tests, bench or
///  examples
///  - workload, vcd or configs include SystemC or TLM; anything includes systemc.h
///  - a kind of dimension is named outside configs/blueprint and those that read and write its word
///  - a header says `using namespace`, or has no include guard WEFT_..._H of its own
///  - a source has no licence tag
std::vector<std::string> violations(const Sources& sources);

}  // namespace weft::test

#endif
