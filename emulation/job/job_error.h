// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_EMULATION_JOB_JOB_ERROR_H
#define WEFT_EMULATION_JOB_JOB_ERROR_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::emulation {

/// What the program does cannot be: the job ends. `ranks`: whose calls are wrong; the others are shut down.
class JobError : public std::runtime_error {
 public:
  JobError(std::vector<uint32_t> of, const std::string& text)
      : std::runtime_error(text), ranks(std::move(of)) {}
  const std::vector<uint32_t> ranks;
};

}  // namespace weft::emulation

#endif
