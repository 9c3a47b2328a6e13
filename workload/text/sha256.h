// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_TEXT_SHA256_H
#define WEFT_WORKLOAD_TEXT_SHA256_H

#include <string>
#include <string_view>

namespace weft::text {

/// The SHA-256 digest (FIPS 180-4) of the bytes, as 64 hexadecimal digits in small letters.
std::string sha256(std::string_view bytes);

}  // namespace weft::text

#endif
