// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Arithmetic on the elements of buffers, by the types and reductions of weft_comm.h. Both ends use it: the
// client for data that one rank's own buffer tells (`mirror`), the server for data of several (`functional`).

#ifndef WEFT_EMULATION_PROTOCOL_ELEMENTS_H
#define WEFT_EMULATION_PROTOCOL_ELEMENTS_H

#include <cstdint>

namespace weft::emulation {

/// Bytes of an element of a weft_type; 0 for an unknown one.
uint32_t bytes_of_type(uint32_t type);

/// Is there arithmetic for these? Not for opaque elements and reductions of the program's own.
bool can_reduce(uint32_t type, uint32_t reduction);

/// into[i] = into[i] (reduction) from[i]. WEFT_AVG adds up: divide() at the end. Floating-point elements of
/// 16 bits are combined in fp32 and rounded to nearest even. can_reduce() must hold.
void combine(uint32_t type, uint32_t reduction, void* into, const void* from, uint64_t count);

/// data[i] = data[i] combined `times` times with itself: what so many equal contributions give. times >= 1.
void replicate(uint32_t type, uint32_t reduction, void* data, uint64_t count, uint64_t times);

/// The end of WEFT_AVG over n contributions.
void divide(uint32_t type, void* data, uint64_t count, uint64_t n);

}  // namespace weft::emulation

#endif
