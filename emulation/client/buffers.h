// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What calls do to the program's buffers: which part of them a rank contributes, and what they hold in the
// end.

#ifndef WEFT_EMULATION_CLIENT_BUFFERS_H
#define WEFT_EMULATION_CLIENT_BUFFERS_H

#include <cstdint>

#include "emulation/client/session.h"

namespace weft::emulation {

/// Checks the arguments and copies what must outlive the call. Throws CallError(WEFT_ERROR_ARGUMENT).
BufferUse use_of(const weft_coll_args& args, const CommView& view);

/// Must other ranks' data come from the server? Else one's own buffer tells all (`mirror`), or nothing.
bool needs_server(const BufferUse& use, uint32_t data_mode);

struct Part {
  const void* data = nullptr;  ///< null: none
  uint64_t bytes = 0;
};
/// What this rank gives to the collective.
Part contribution(const BufferUse& use);
/// Bytes that this rank gets.
uint64_t received_bytes(const BufferUse& use);

/// Fills the receive buffer of what is over. `arrived`: its bytes from the server; null: there are none.
void fill(const BufferUse& use, uint32_t data_mode, const Finished& finished, const uint8_t* arrived);

weft_status status_of(const Finished& finished);

}  // namespace weft::emulation

#endif
