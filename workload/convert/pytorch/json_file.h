// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// JSON of PyTorch's profilers, read with messages that name the file.

#ifndef WEFT_WORKLOAD_CONVERT_PYTORCH_JSON_FILE_H
#define WEFT_WORKLOAD_CONVERT_PYTORCH_JSON_FILE_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "workload/convert/pytorch/rank_graph.h"

namespace weft::convert::pytorch {

using Json = nlohmann::json;

/// Throws UserError(trace): the position at which the text is no JSON, or what is no object.
Json read_json(const std::string& path, const char* what);

/// A member that is a number or a text of digits; nothing if it is absent or something else.
std::optional<int64_t> integer(const Json& object, const char* key);
std::optional<double> real(const Json& object, const char* key);
std::string text(const Json& object, const char* key);  ///< "" if it is no text or number

/// What a collective is called: "all_gather", "_allgather_base", "allreduce_coalesced", ..
enum class Call : uint8_t { unknown, collective, send, receive, wait, other };
Call call_of(const std::string& name, CollectiveOp& op);

/// Bytes of an element: "float", "c10::BFloat16", "Long". 0: unknown.
uint64_t element_bytes(const std::string& type);

}  // namespace weft::convert::pytorch

#endif
