// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/node.h"

namespace weft::trace {

const char* to_string(NodeType type) {
  static const char* const names[] = {"INVALID", "METADATA",  "MEM_LOAD",  "MEM_STORE",
                                      "COMP",    "COMM_SEND", "COMM_RECV", "COMM_COLL"};
  const auto i = static_cast<unsigned>(type);
  return i < 8 ? names[i] : "UNKNOWN";
}

}  // namespace weft::trace
