// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which real rank each emulated one follows.

#ifndef WEFT_EMULATION_JOB_CLASSES_H
#define WEFT_EMULATION_JOB_CLASSES_H

#include <cstdint>
#include <map>
#include <vector>

#include "configs/config.h"

namespace weft::emulation {

class Classes {
 public:
  /// `real`: ascending, not empty. Ranks that no entry of `environment.classes` names follow the nearest real
  /// rank below them, or the first one. Throws UserError(usage) for an entry whose real rank is none, and for
  /// a rank in two entries.
  Classes(const Config& config, uint32_t world, const std::vector<uint32_t>& real);

  bool is_real(uint32_t rank) const;
  /// The real rank that it follows; itself, if it is real.
  uint32_t representative(uint32_t rank) const;
  const std::vector<uint32_t>& real() const { return real_; }

 private:
  std::vector<uint32_t> real_;
  std::map<uint32_t, uint32_t> named_;
};

}  // namespace weft::emulation

#endif
