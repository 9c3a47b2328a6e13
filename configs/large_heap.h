// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The heap of a program in large pages, where the system has them (transparent_hugepage: madvise or always).
// Programs call it; a library leaves its program's heap alone.

#ifndef WEFT_CONFIGS_LARGE_HEAP_H
#define WEFT_CONFIGS_LARGE_HEAP_H

namespace weft {

/// Call it first in main(). The heap gets addresses for half of the machine's memory now, and memory when it
/// is used. Where the system counts addresses as memory it gets a gigabyte of them, or an eighth of the
/// machine's memory if that is less. False: the C library or the system is another one or refuses, or the
/// process has a limit of its addresses; the heap then has pages of the usual size. Under the sanitizers it
/// does nothing.
bool put_heap_in_large_pages();

}  // namespace weft

#endif
