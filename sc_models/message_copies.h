// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MODELS_MESSAGE_COPIES_H
#define WEFT_SC_MODELS_MESSAGE_COPIES_H

#include <cstdint>

#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

/// Hears of point-to-point messages of an NPU that others do as.
class MessageCopies {
 public:
  virtual ~MessageCopies() = default;
  /// The message goes to the other end of the NPU's link of this dimension, now.
  virtual void leaves(uint32_t dimension, const fabric::Transfer& transfer) = 0;
};

}  // namespace weft

#endif
