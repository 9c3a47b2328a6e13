// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/node_decoder.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "workload/trace/wire.h"

namespace weft::trace {
namespace {

using wire::Cursor;

// Chakra's CollectiveCommType, in its numbering.
constexpr CollectiveOp kCollectives[] = {CollectiveOp::all_reduce,     CollectiveOp::reduce,
                                         CollectiveOp::all_gather,     CollectiveOp::gather,
                                         CollectiveOp::scatter,        CollectiveOp::broadcast,
                                         CollectiveOp::all_to_all,     CollectiveOp::reduce_scatter,
                                         CollectiveOp::reduce_scatter, CollectiveOp::barrier};
constexpr uint64_t kCollectiveTypes = sizeof(kCollectives) / sizeof(kCollectives[0]);

constexpr uint64_t kMaxMicros = std::numeric_limits<uint64_t>::max() / 1000000;

// Attribute names this reader knows.
enum class Key {
  other,
  is_cpu_op,
  num_ops,
  tensor_size,
  comm_type,
  comm_size,
  comm_src,
  comm_dst,
  comm_tag,
  comm_priority,
  involved_dim,
  pg_name,
  algorithm,
  iteration,
  root,
  remote
};

Key key_of(std::string_view name) {
  switch (name.size()) {
    case 4:
      return name == "root" ? Key::root : Key::other;
    case 7:
      return name == "num_ops" ? Key::num_ops : name == "pg_name" ? Key::pg_name : Key::other;
    case 8:
      return name == "comm_src"   ? Key::comm_src
             : name == "comm_dst" ? Key::comm_dst
             : name == "comm_tag" ? Key::comm_tag
                                  : Key::other;
    case 9:
      return name == "is_cpu_op"   ? Key::is_cpu_op
             : name == "comm_size" ? Key::comm_size
             : name == "comm_type" ? Key::comm_type
             : name == "comm_root" ? Key::root
             : name == "root_rank" ? Key::root
             : name == "is_remote" ? Key::remote
             : name == "algorithm" ? Key::algorithm
             : name == "iteration" ? Key::iteration
                                   : Key::other;
    case 10:
      return name == "tensor_loc" ? Key::remote : Key::other;
    case 11:
      return name == "tensor_size" ? Key::tensor_size : Key::other;
    case 12:
      return name == "involved_dim" ? Key::involved_dim : Key::other;
    case 13:
      return name == "comm_priority" ? Key::comm_priority : Key::other;
    default:
      return Key::other;
  }
}

// AttributeProto's oneof by field number.
const char* kind_name(uint32_t field) {
  static const char* const names[] = {
      "double",  "DoubleList",  "float",    "FloatList",    "int32",    "Int32List",
      "int64",   "Int64List",   "uint32",   "Uint32List",   "uint64",   "Uint64List",
      "sint32",  "Sint32List",  "sint64",   "Sint64List",   "fixed32",  "Fixed32List",
      "fixed64", "Fixed64List", "sfixed32", "Sfixed32List", "sfixed64", "Sfixed64List",
      "bool",    "BoolList",    "string",   "StringList",   "bytes",    "BytesList"};
  return field >= 3 && field <= 32 ? names[field - 3] : "unknown";
}

int64_t zigzag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

// The value of one attribute, undecided as to what it is used for.
struct Value {
  enum class Shape { absent, number, real, text, list, unknown };
  Shape shape = Shape::absent;
  uint32_t field = 0;
  bool negative = false;
  uint64_t magnitude = 0;  // of a number
  double real = 0;
  Cursor bytes;  // of text and lists

  void set(uint64_t v) {
    shape = Shape::number;
    negative = false;
    magnitude = v;
  }
  void set_signed(int64_t v) {
    shape = Shape::number;
    negative = v < 0;
    magnitude = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  }
};

uint32_t wire_type_of(uint32_t field) {
  if (field % 2 == 0) return wire::kBytes;  // lists
  switch (field) {
    case 3:
    case 21:
    case 25:
      return wire::kFixed64;
    case 5:
    case 19:
    case 23:
      return wire::kFixed32;
    case 29:
    case 31:
      return wire::kBytes;
    default:
      return wire::kVarint;
  }
}

// Reads the value field; false on malformed bytes.
bool read_value(Cursor& c, uint32_t field, uint32_t type, Value& value) {
  value.field = field;
  if (field < 3 || field > 32 || type != wire_type_of(field)) {
    value.shape = Value::Shape::unknown;
    return c.skip(type);
  }
  if (type == wire::kBytes) {
    value.shape = field == 29 || field == 31 ? Value::Shape::text : Value::Shape::list;
    return c.bytes(value.bytes);
  }
  uint64_t v = 0;
  uint32_t v32 = 0;
  if (type == wire::kVarint ? !c.varint(v) : type == wire::kFixed64 ? !c.fixed(v) : !c.fixed(v32))
    return false;
  switch (field) {
    case 3: {
      value.shape = Value::Shape::real;
      std::memcpy(&value.real, &v, sizeof v);
      break;
    }
    case 5: {
      float f = 0;
      value.shape = Value::Shape::real;
      std::memcpy(&f, &v32, sizeof f);
      value.real = static_cast<double>(f);
      break;
    }
    case 7:
      value.set_signed(static_cast<int32_t>(static_cast<uint32_t>(v)));
      break;
    case 9:
      value.set_signed(static_cast<int64_t>(v));
      break;
    case 11:
      value.set(static_cast<uint32_t>(v));
      break;
    case 13:
    case 21:
      value.set(v);
      break;
    case 15:
    case 17:
      value.set_signed(zigzag(v));
      break;
    case 19:
      value.set(v32);
      break;
    case 23:
      value.set_signed(static_cast<int32_t>(v32));
      break;
    case 25:
      value.set_signed(static_cast<int64_t>(v));
      break;
    default:  // 27: bool
      value.set(v != 0 ? 1 : 0);
      break;
  }
  return true;
}

bool varint_list(uint32_t field) {
  return wire_type_of(field - 1) == wire::kVarint && field != 30 && field != 32;
}

// One attribute's reader: knows the node it belongs to, for the messages.
class AttributeReader {
 public:
  AttributeReader(const NodePlace& place, Node& node, DecodeNotes* notes)
      : place_(place), node_(node), notes_(notes) {}

  bool has_peer_of(NodeType type) const { return type == NodeType::comm_send ? has_dst_ : has_src_; }
  uint32_t peer_of(NodeType type) const { return type == NodeType::comm_send ? dst_ : src_; }
  bool has_own_end_of(NodeType type) const { return type == NodeType::comm_send ? has_src_ : has_dst_; }
  uint32_t own_end_of(NodeType type) const { return type == NodeType::comm_send ? src_ : dst_; }
  bool has_size() const { return has_size_; }

  // False on malformed bytes. A value that cannot be is kept in error(): the node's id and name, which the
  // message needs, may come later in its bytes.
  bool read(Cursor c) {
    std::string_view name;
    Value value;
    while (!c.done()) {
      uint32_t field = 0, type = 0;
      if (!c.tag(field, type)) return false;
      if (field == 1 && type == wire::kBytes) {
        Cursor text;
        if (!c.bytes(text)) return false;
        name = text.text();
      } else if (field == 2) {
        if (!c.skip(type)) return false;
      } else if (!read_value(c, field, type, value)) {
        return false;
      }
    }
    return value.shape == Value::Shape::absent || store(name, value);
  }

  // What a value could not be; empty when all were fine.
  const std::string& error() const { return error_; }

 private:
  bool store(std::string_view name, const Value& value) {
    uint64_t n = 0;
    switch (key_of(name)) {
      case Key::other:
        if (value.shape == Value::Shape::unknown) note(name, value);
        return true;
      case Key::is_cpu_op:
        if (truth(name, value, n)) node_.is_cpu_op = n != 0;
        return true;
      case Key::num_ops:
        if (count(name, value, n)) node_.num_ops = n;
        return true;
      case Key::tensor_size:
        if (count(name, value, n)) node_.tensor_size = n;
        return true;
      case Key::comm_type:
        if (!count(name, value, n)) return true;
        if (n >= kCollectiveTypes) {
          fail("{} is {}, but Chakra's collectives are 0 (ALL_REDUCE) to {} (BARRIER)", name, n,
               kCollectiveTypes - 1);
          return true;
        }
        node_.has_comm_type = true;
        node_.op = kCollectives[n];
        return true;
      case Key::comm_size:
        if (count(name, value, n)) {
          node_.comm_size = n;
          has_size_ = true;
        }
        return true;
      case Key::comm_src:
        if (rank(name, value, src_)) has_src_ = true;
        return true;
      case Key::comm_dst:
        if (rank(name, value, dst_)) has_dst_ = true;
        return true;
      case Key::comm_tag:
        rank(name, value, node_.tag);
        return true;
      case Key::root:
        if (rank(name, value, node_.root)) node_.has_root = true;
        return true;
      case Key::comm_priority:
        priority(name, value);
        return true;
      case Key::remote:
        if (truth(name, value, n)) node_.remote = n != 0;
        return true;
      case Key::pg_name:
        if (value.shape == Value::Shape::text) {
          node_.pg_name = value.bytes.text();
        } else if (value.shape == Value::Shape::number) {
          node_.pg_name = fmt::format("{}{}", value.negative ? "-" : "", value.magnitude);
        } else {
          note(name, value);
        }
        return true;
      case Key::iteration:
        if (value.shape == Value::Shape::number && !value.negative) {
          node_.iteration = value.magnitude;
          node_.has_iteration = true;
        }
        return true;
      case Key::algorithm:
        if (value.shape == Value::Shape::text) {
          node_.algorithm = value.bytes.text();
        } else {
          note(name, value);
        }
        return true;
      case Key::involved_dim:
        return dimensions(name, value);
    }
    return true;
  }

  template <typename... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (error_.empty()) error_ = fmt::format(format, std::forward<Args>(args)...);
  }

  void note(std::string_view name, const Value& value) {
    if (notes_ == nullptr) return;
    if (notes_->unreadable_attributes++ == 0) {
      notes_->first_unreadable = fmt::format("attribute \"{}\" of node number {} has kind {}{}", name,
                                             place_.number + 1, kind_name(value.field),
                                             value.field > 32 ? fmt::format(" (field {})", value.field) : "");
    }
  }

  // A bool or any number: nonzero is true. (A profiler's -1 is as true as its 1.)
  bool truth(std::string_view name, const Value& value, uint64_t& n) {
    if (value.shape == Value::Shape::number) {
      n = value.magnitude;
    } else if (value.shape == Value::Shape::real) {
      n = value.real != 0 ? 1 : 0;
    } else {
      note(name, value);
      return false;
    }
    return true;
  }

  // A number that cannot be negative.
  bool count(std::string_view name, const Value& value, uint64_t& n) {
    if (value.shape == Value::Shape::real) {
      if (!(value.real >= 0) || value.real >= 18446744073709551616.0) {
        fail("{} is {}, but must be a number from 0 to 2^64-1", name, value.real);
        return false;
      }
      n = static_cast<uint64_t>(value.real);
      return true;
    }
    if (value.shape != Value::Shape::number) {
      note(name, value);
      return false;
    }
    if (value.negative) {
      fail("{} is -{}, but cannot be negative", name, value.magnitude);
      return false;
    }
    n = value.magnitude;
    return true;
  }

  bool rank(std::string_view name, const Value& value, uint32_t& n) {
    uint64_t wide = 0;
    if (!count(name, value, wide)) return false;
    if (wide > std::numeric_limits<uint32_t>::max()) {
      fail("{} is {}, but must be below 2^32", name, wide);
      return false;
    }
    n = static_cast<uint32_t>(wide);
    return true;
  }

  void priority(std::string_view name, const Value& value) {
    if (value.shape != Value::Shape::number && value.shape != Value::Shape::real) {
      note(name, value);
      return;
    }
    constexpr uint64_t kMost = std::numeric_limits<int32_t>::max();
    if (value.shape == Value::Shape::real ? !(std::fabs(value.real) <= static_cast<double>(kMost))
                                          : value.magnitude > kMost) {
      fail("{} is outside -2^31+1 .. 2^31-1", name);
      return;
    }
    if (value.shape == Value::Shape::real) {
      node_.priority = static_cast<int32_t>(value.real);
    } else {
      const auto n = static_cast<int32_t>(value.magnitude);
      node_.priority = value.negative ? -n : n;
    }
  }

  bool dimensions(std::string_view name, const Value& value) {
    if (value.shape == Value::Shape::number) {
      node_.involved_dim.assign(1, value.magnitude != 0);
      return true;
    }
    if (value.shape != Value::Shape::list || !varint_list(value.field)) {
      note(name, value);
      return true;
    }
    node_.involved_dim.clear();
    Cursor list = value.bytes;
    while (!list.done()) {
      uint32_t field = 0, type = 0;
      if (!list.tag(field, type)) return false;
      uint64_t v = 0;
      if (field == 1 && type == wire::kBytes) {
        Cursor packed;
        if (!list.bytes(packed)) return false;
        while (!packed.done()) {
          if (!packed.varint(v)) return false;
          node_.involved_dim.push_back(v != 0);
        }
      } else if (field == 1 && type == wire::kVarint) {
        if (!list.varint(v)) return false;
        node_.involved_dim.push_back(v != 0);
      } else if (!list.skip(type)) {
        return false;
      }
    }
    return true;
  }

  const NodePlace& place_;
  Node& node_;
  DecodeNotes* notes_;
  uint32_t src_ = 0;
  uint32_t dst_ = 0;
  bool has_src_ = false;
  bool has_dst_ = false;
  bool has_size_ = false;
  std::string error_;
};

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
  node.num_ops = 0;
  node.tensor_size = 0;
  node.remote = false;
  node.has_comm_type = false;
  node.op = CollectiveOp::all_reduce;
  node.comm_size = 0;
  node.involved_dim.clear();
  node.pg_name.clear();
  node.priority = 0;
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

}  // namespace

std::string describe(const NodePlace& place, uint64_t id, std::string_view name) {
  // Names come from the file: keep messages to one readable line.
  std::string shown(name.substr(0, 80));
  for (char& ch : shown) {
    if (static_cast<unsigned char>(ch) < 0x20 || ch == 0x7f) ch = '?';
  }
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
  uint64_t type_number = 0;
  uint64_t micros = 0;
  Cursor c(data, size);
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
        good = type == wire::kVarint && c.varint(type_number);
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
        good = type == wire::kVarint && c.varint(micros);
        break;
      case 8:
      case 9:
        good = type == wire::kBytes && c.skip(type);
        break;
      case 10:
        good = type == wire::kBytes && c.bytes(sub) && attributes.read(sub);
        break;
      default:
        good = c.skip(type);  // a later version's field
        break;
    }
  }
  if (!good) corrupt(place);

  const auto fail = [&](const std::string& what) {
    throw UserError(ExitCode::trace, fmt::format("{}: {}. Mend what wrote the trace.",
                                                 describe(place, node.id, node.name), what));
  };
  if (!attributes.error().empty()) fail(attributes.error());
  if (type_number > static_cast<uint64_t>(NodeType::comm_coll)) {
    fail(fmt::format("its type is {}, but Chakra's node types are 0 to 7", type_number));
  }
  node.type = static_cast<NodeType>(type_number);
  if (micros > kMaxMicros) {
    fail(fmt::format("duration_micros is {}, more than the {} that simulated time holds (a negative value?)",
                     micros, kMaxMicros));
  }
  node.has_duration = micros != 0;
  node.duration = micros * 1000000;

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
      } else if (node.is_cpu_op && !attributes.has_size()) {
        node.type = NodeType::metadata;
      } else {
        fail(node.type == NodeType::comm_send ? "a COMM_SEND without comm_dst"
                                              : "a COMM_RECV without comm_src");
      }
      break;
    case NodeType::comm_coll:
      if (node.has_comm_type && !attributes.has_size() && node.op != CollectiveOp::barrier &&
          notes != nullptr && notes->unsized_collectives++ == 0) {
        notes->first_unsized = node.id;
      }
      break;
    default:
      break;
  }
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
