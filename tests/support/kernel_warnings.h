// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SystemC warnings fail tests: the kernel warns of names that exist twice, of ports that are not bound as
// they should be, of times that are rounded.

#ifndef WEFT_TESTS_SUPPORT_KERNEL_WARNINGS_H
#define WEFT_TESTS_SUPPORT_KERNEL_WARNINGS_H

#include <string>

namespace weft::test {

/// From now on the warnings of SystemC's report handler are kept, but for that of an sc_start() which finds
/// nothing to do. A test that sets a handler of its own does
/// without.
void keep_kernel_warnings();

/// Those since the last call, a line each; empty: none.
std::string take_kernel_warnings();

}  // namespace weft::test

#endif
