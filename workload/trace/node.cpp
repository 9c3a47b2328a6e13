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

const char* to_string(Location location) {
  static const char* const names[kLocations] = {"local", "remote", "host", "nvme"};
  return names[static_cast<unsigned>(location)];
}

const char* to_string(IssueOrder order) {
  static const char* const names[kIssueOrders] = {"none", "system", "lifo", "fifo", "highest"};
  return names[static_cast<unsigned>(order)];
}

}  // namespace weft::trace
