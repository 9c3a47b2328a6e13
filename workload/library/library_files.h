// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The texts of configs/libraries/nccl.yaml and rccl.yaml. Private to library_tables.cpp.

#ifndef WEFT_WORKLOAD_LIBRARY_LIBRARY_FILES_H
#define WEFT_WORKLOAD_LIBRARY_LIBRARY_FILES_H

namespace weft::library {

extern const char* const kNcclTables;
extern const char* const kRcclTables;

}  // namespace weft::library

#endif
