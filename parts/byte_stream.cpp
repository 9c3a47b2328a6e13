// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "parts/byte_stream.h"

#include <unistd.h>

#include <cerrno>

namespace weft::parts {

bool read_all(int file, char* to, size_t size) {
  while (size != 0) {
    const ssize_t got = read(file, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int file, const char* from, size_t size) {
  while (size != 0) {
    const ssize_t done = write(file, from, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    from += done;
    size -= static_cast<size_t>(done);
  }
  return true;
}

}  // namespace weft::parts
