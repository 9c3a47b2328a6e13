// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_PARTS_BYTE_STREAM_H
#define WEFT_PARTS_BYTE_STREAM_H

#include <cstddef>

namespace weft::parts {

/// Read, or write, exactly so much of a blocking file, pipe or socket. False: the other end is closed.
bool read_all(int file, char* to, size_t size);
bool write_all(int file, const char* from, size_t size);

}  // namespace weft::parts

#endif
