// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How much memory this process may still take: the machine's available memory, the limits of its control
// groups, and that of its address space.

#ifndef WEFT_SC_MAIN_MACHINE_MEMORY_H
#define WEFT_SC_MAIN_MACHINE_MEMORY_H

#include <cstdint>
#include <string>

namespace weft::cli {

struct AvailableMemory {
  uint64_t bytes = ~uint64_t{0};  ///< the least of all limits; all bits: none is known
  std::string what;               ///< "available on this machine", "left of this process's control group"
};

/// From /proc/meminfo (MemAvailable), the memory limits of the process's control group and those above it
/// (versions 1 and 2; cached files count as free), and RLIMIT_AS (ulimit -v). `root`: before all paths, for
/// tests.
AvailableMemory available_memory(const std::string& root = "");

/// What this process holds now, in bytes; 0 if it is not known.
uint64_t resident_memory();

}  // namespace weft::cli

#endif
