// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The results of a part as bytes, for part 0. Both ends are the same program: values keep their form in
// memory.

#ifndef WEFT_PARTS_CODEC_H
#define WEFT_PARTS_CODEC_H

#include <string>

#include "sc_models/part_results.h"

namespace weft::parts {

std::string encode(const JobPart& part);
std::string encode(const MachinePart& part);
/// Throw std::invalid_argument when the bytes are not those of encode().
JobPart decode_job(const std::string& bytes);
MachinePart decode_machine(const std::string& bytes);

}  // namespace weft::parts

#endif
