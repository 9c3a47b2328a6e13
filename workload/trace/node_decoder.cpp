// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/node_decoder.h"

#include <limits>

#include <fmt/format.h>

#include "configs/printable.h"
#include "workload/trace/attribute_reader.h"
#include "workload/trace/wire.h"

namespace weft::trace {
namespace {

using wire::Cursor;

constexpr uint64_t kMaxMicros = std::numeric_limits<uint64_t>::max() / 1000000;

bool read_ids(Cursor& c, uint32_t type, std::vector<uint64_t>* ids) {
  uint64_t v = 0;
  if (type == wire::kVarint) {
    if (!c.varint(v)) return false;
    if (ids != nullptr) ids->push_back(v);
    return true;
  }
  Cursor packed;
  if (type != wire::kBytes || !c.bytes(packed)) return false;
  while (!packed.done()) {
    if (!packed.varint(v)) return false;
    if (ids != nullptr) ids->push_back(v);
  }
  return true;
}

void reset(Node& node) {
  node.index = 0;
  node.id = 0;
  node.name.clear();
  node.type = NodeType::invalid;
  node.is_cpu_op = false;
  node.has_duration = false;
  node.duration = 0;
  node.has_stream = false;
  node.stream = 0;
  node.delay = 0;
  node.num_ops = 0;
  node.tensor_size = 0;
  for (uint64_t& size : node.gemm) size = 0;
  node.delay_cycles = 0;
  node.location = Location::local;
  node.in_switch = false;
  node.has_comm_type = false;
  node.op = CollectiveOp::all_reduce;
  node.comm_size = 0;
  node.involved_dim.clear();
  node.pg_name.clear();
  node.priority = 0;
  node.order = IssueOrder::none;
  node.root = 0;
  node.has_root = false;
  node.algorithm.clear();
  node.iteration = 0;
  node.has_iteration = false;
  node.ordinal = 0;
  node.peer = 0;
  node.tag = 0;
  node.has_own_end = false;
  node.own_end = 0;
}

[[noreturn]] void corrupt(const NodePlace& place) {
  throw UserError(
      ExitCode::trace,
      fmt::format("{}: rank {}, byte {}, node number {} of the file: corrupt: the message is no Chakra Node. "
                  "Generate or copy the file again.",
                  *place.path, place.rank, place.offset, place.number + 1));
}

/// Of a node's own fields those whose range is checked when the node is complete.
struct Fields {
  uint64_t type = 0;
  uint64_t micros = 0;
};

/// False on malformed bytes.
bool read_fields(Cursor c, const NodePlace& place, Node& node, Dependencies* dependencies,
                 AttributeReader& attributes, Fields& fields) {
  bool good = true;
  while (good && !c.done()) {
    uint32_t field = 0, type = 0;
    Cursor sub;
    if (!c.tag(field, type)) corrupt(place);
    switch (field) {
      case 1:
        good = type == wire::kVarint && c.varint(node.id);
        break;
      case 2:
        good = type == wire::kBytes && c.bytes(sub);
        node.name = sub.text();
        break;
      case 3:
        good = type == wire::kVarint && c.varint(fields.type);
        break;
      case 4:
        good = read_ids(c, type, dependencies != nullptr ? &dependencies->control : nullptr);
        break;
      case 5:
        good = read_ids(c, type, dependencies != nullptr ? &dependencies->data : nullptr);
        break;
      case 6:
        good = type == wire::kVarint && c.skip(type);
        break;
      case 7:
        good = type == wire::kVarint && c.varint(fields.micros);
        break;
      case 8:
      case 9:
        good = type == wire::kBytes && c.bytes(sub);
        if (good && !sub.done()) attributes.note_tensors();
        break;
      case 10:
        good = type == wire::kBytes && c.bytes(sub) && attributes.read(sub);
        break;
      default:
        good = c.skip(type);  // a later version's field
        break;
    }
  }
  return good;
}

/// Throws UserError for values that cannot be. Gives the node its type, its duration and its peer.
void check_node(const NodePlace& place, Node& node, const AttributeReader& attributes, const Fields& fields,
                DecodeNotes* notes) {
  const auto fail = [&](const std::string& what) {
    throw UserError(ExitCode::trace, fmt::format("{}: {}. Mend what wrote the trace.",
                                                 describe(place, node.id, node.name), what));
  };
  if (!attributes.error().empty()) fail(attributes.error());
  if (fields.type > static_cast<uint64_t>(NodeType::comm_coll)) {
    fail(fmt::format("its type is {}, but Chakra's node types are 0 to 7", fields.type));
  }
  node.type = static_cast<NodeType>(fields.type);
  const bool accesses_memory = node.type == NodeType::mem_load || node.type == NodeType::mem_store;
  if (accesses_memory && !attributes.location_error().empty()) fail(attributes.location_error());
  if (fields.micros > kMaxMicros) {
    fail(fmt::format("duration_micros is {}, more than the {} that simulated time holds (a negative value?)",
                     fields.micros, kMaxMicros));
  }
  if (!node.has_duration) {
    node.has_duration = fields.micros != 0;
    node.duration = fields.micros * 1000000;
  }

  switch (node.type) {
    case NodeType::invalid:
      if (notes != nullptr && notes->untyped_nodes++ == 0) notes->first_untyped = node.id;
      break;
    case NodeType::comm_send:
    case NodeType::comm_recv:
      if (attributes.has_peer_of(node.type)) {
        node.peer = attributes.peer_of(node.type);
        node.has_own_end = attributes.has_own_end_of(node.type);
        node.own_end = attributes.own_end_of(node.type);
        if (!attributes.has_size() && notes != nullptr && notes->unsized_messages++ == 0)
          notes->first_unsized_message = node.id;
      } else if (node.is_cpu_op && !attributes.has_size()) {
        node.type = NodeType::metadata;
      } else {
        fail(node.type == NodeType::comm_send ? "a COMM_SEND without comm_dst"
                                              : "a COMM_RECV without comm_src");
      }
      break;
    case NodeType::mem_load:
    case NodeType::mem_store:
      if (!attributes.has_tensor_size() && !node.has_duration && notes != nullptr &&
          notes->unsized_accesses++ == 0) {
        notes->first_unsized_access = node.id;
      }
      break;
    case NodeType::comm_coll:
      // Wrappers of the CPU have no comm_type.
      if (!node.has_comm_type && !node.is_cpu_op && attributes.has_size() && notes != nullptr &&
          notes->untyped_collectives++ == 0) {
        notes->first_untyped_collective = node.id;
      }
      if (node.has_comm_type && !attributes.has_size() && node.op != CollectiveOp::barrier &&
          notes != nullptr && notes->unsized_collectives++ == 0) {
        notes->first_unsized = node.id;
      }
      break;
    default:
      break;
  }
}

}  // namespace

std::string describe(const NodePlace& place, uint64_t id, std::string_view name) {
  // Names come from the file: keep messages to one readable line.
  std::string shown = printable(name.substr(0, 80));
  if (name.size() > 80) shown += "...";
  return fmt::format("{}: rank {}, node {} \"{}\" (number {} of the file, byte {})", *place.path, place.rank,
                     id, shown, place.number + 1, place.offset);
}

void decode_node(const uint8_t* data, size_t size, const NodePlace& place, Node& node,
                 Dependencies* dependencies, DecodeNotes* notes) {
  reset(node);
  if (dependencies != nullptr) {
    dependencies->control.clear();
    dependencies->data.clear();
  }
  AttributeReader attributes(place, node, notes);
  Fields fields;
  if (!read_fields(Cursor(data, size), place, node, dependencies, attributes, fields)) corrupt(place);
  check_node(place, node, attributes, fields, notes);
}

void decode_dependencies(const uint8_t* data, size_t size, const NodePlace& place,
                         Dependencies& dependencies) {
  dependencies.control.clear();
  dependencies.data.clear();
  Cursor c(data, size);
  bool good = true;
  while (good && !c.done()) {
    uint32_t field = 0, type = 0;
    if (!c.tag(field, type)) corrupt(place);
    if (field == 4) {
      good = read_ids(c, type, &dependencies.control);
    } else if (field == 5) {
      good = read_ids(c, type, &dependencies.data);
    } else {
      good = c.skip(type);
    }
  }
  if (!good) corrupt(place);
}

}  // namespace weft::trace
