// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SystemC elaborates once a process: each test that simulates does so in a child of its own.

#ifndef WEFT_TESTS_PACKET_IN_CHILD_H
#define WEFT_TESTS_PACKET_IN_CHILD_H

#include <functional>
#include <string>

#include "configs/types.h"

namespace weft::test {

/// Runs `body` in a child process and answers what it returned; "exception: ..." or "died: ..." if it did not
/// return.
std::string in_child(const std::function<std::string()>& body);

/// Simulates this much longer.
void advance(Picoseconds t);

/// The folder of golden data, or empty: then the test is to be skipped (with CI=true that is a failure).
std::string golden_root();

}  // namespace weft::test

#endif
