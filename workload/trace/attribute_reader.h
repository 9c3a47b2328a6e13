// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The attributes of an encoded Chakra Node, whatever numeric kinds its producer chose for them:
// node_decoder.h lists those that are read.

#ifndef WEFT_WORKLOAD_TRACE_ATTRIBUTE_READER_H
#define WEFT_WORKLOAD_TRACE_ATTRIBUTE_READER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "workload/trace/node_decoder.h"
#include "workload/trace/wire.h"

namespace weft::trace {

/// Chakra's number of a collective, the value of `comm_type`.
uint64_t chakra_number(CollectiveOp op);

/// Reads the attributes of one node into it.
class AttributeReader {
 public:
  AttributeReader(const NodePlace& place, Node& node, DecodeNotes* notes)
      : place_(place), node_(node), notes_(notes) {}

  bool has_peer_of(NodeType type) const { return type == NodeType::comm_send ? has_dst_ : has_src_; }
  uint32_t peer_of(NodeType type) const { return type == NodeType::comm_send ? dst_ : src_; }
  bool has_own_end_of(NodeType type) const { return type == NodeType::comm_send ? has_src_ : has_dst_; }
  uint32_t own_end_of(NodeType type) const { return type == NodeType::comm_send ? src_ : dst_; }
  bool has_size() const { return has_size_; }  ///< comm_size
  bool has_tensor_size() const { return has_tensor_size_; }

  /// The node lists tensors.
  void note_tensors() {
    if (notes_ != nullptr) ++notes_->tensor_lists;
  }

  /// One attribute. False on malformed bytes. A value that cannot be is kept in error(): the node's id and
  /// name, which the message needs, may come later in its bytes.
  bool read(wire::Cursor c);

  /// What a value could not be; empty when all were fine.
  const std::string& error() const { return error_; }
  /// The same of tensor_loc, which only nodes of memory accesses need.
  const std::string& location_error() const { return location_error_; }

 private:
  struct Value;

  /// False on malformed bytes.
  static bool read_value(wire::Cursor& c, uint32_t field, uint32_t type, Value& value);
  bool store(std::string_view name, const Value& value);
  void note(std::string_view name, const Value& value);
  /// A bool or any number: nonzero is true. (A profiler's -1 is as true as its 1.)
  bool truth(std::string_view name, const Value& value, uint64_t& n);
  /// A number that cannot be negative.
  bool count(std::string_view name, const Value& value, uint64_t& n);
  bool rank(std::string_view name, const Value& value, uint32_t& n);
  void collective_type(std::string_view name, const Value& value);
  void group_name(std::string_view name, const Value& value);
  void text(std::string_view name, const Value& value, std::string& out);
  void priority(std::string_view name, const Value& value);
  void order(std::string_view name, const Value& value);
  void location(std::string_view name, const Value& value);
  bool dimensions(std::string_view name, const Value& value);

  template <typename... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (error_.empty()) error_ = fmt::format(format, std::forward<Args>(args)...);
  }

  const NodePlace& place_;
  Node& node_;
  DecodeNotes* notes_;
  uint32_t src_ = 0;
  uint32_t dst_ = 0;
  bool has_src_ = false;
  bool has_dst_ = false;
  bool has_size_ = false;
  bool has_tensor_size_ = false;
  bool has_location_ = false;
  std::string error_;
  std::string location_error_;
};

}  // namespace weft::trace

#endif
