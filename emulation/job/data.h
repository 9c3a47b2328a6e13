// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a real rank receives of a collective, from the buffers of the real members (`data: functional`).

#ifndef WEFT_EMULATION_JOB_DATA_H
#define WEFT_EMULATION_JOB_DATA_H

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "emulation/protocol/messages.h"

namespace weft::emulation {

/// What a member has contributed; null: nothing is known.
using ContributionOf = std::function<const std::vector<uint8_t>*(uint32_t member)>;

/// The call of a member, with the counts that it knows; null: nothing is known.
using CallOf = std::function<const Coll*(uint32_t member)>;

/// The bytes of member `me` of `members`; `call` is its own. Empty: they cannot be told.
std::optional<std::vector<uint8_t>> collective_result(const Coll& call, uint32_t members, uint32_t me,
                                                      const ContributionOf& of, const CallOf& call_of);

/// Bytes that member `me` contributes.
uint64_t contributed_bytes(const Coll& call, uint32_t members, uint32_t me);

/// Bytes that member `me` gets, as far as its own call says.
uint64_t received_bytes(const Coll& call, uint32_t members, uint32_t me);

/// CollectiveRequest::bytes of the operation, as Weft's plans take it.
uint64_t plan_bytes(const Coll& call, uint32_t members);

}  // namespace weft::emulation

#endif
