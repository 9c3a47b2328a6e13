// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A limit of fuzz targets, not of a reader: the routes of a graph of thousands of NPUs take seconds to find
// with the sanitizers, and what is costly by its size is not looked for.

#ifndef WEFT_TESTS_FUZZ_LARGE_MACHINE_H
#define WEFT_TESTS_FUZZ_LARGE_MACHINE_H

#include <string>

namespace weft::fuzz {

/// Is this the notation of a tree alone, which becomes a graph, of more than 256 NPUs?
bool large_tree(const std::string& notation);
/// Does this configuration ask for a graph, or a tree that becomes one, of more than 256 NPUs?
bool large_machine(const std::string& text);

}  // namespace weft::fuzz

#endif
