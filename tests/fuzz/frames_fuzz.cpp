// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A stream of bytes as a rank's process could send it: frames, and messages in them.

#include "emulation/protocol/messages.h"
#include "tests/emulation/read_frames.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weft::test::read_frames(data, size);
  return 0;
}
