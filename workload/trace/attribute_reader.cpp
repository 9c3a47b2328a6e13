// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/attribute_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

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

// Attribute names this reader knows.
enum class Key {
  other,
  is_cpu_op,
  num_ops,
  stream,
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
  location,
  remote,
  in_switch,
  duration,
  delay,
  gemm_m,
  gemm_k,
  gemm_n,
  delay_cycles,
  order,
  tensors
};

Key key_of(std::string_view name) {
  switch (name.size()) {
    case 1:
      return name == "m" ? Key::gemm_m : name == "k" ? Key::gemm_k : name == "n" ? Key::gemm_n : Key::other;
    case 5:
      return name == "delay" ? Key::delay_cycles : Key::other;
    case 4:
      return name == "root" ? Key::root : Key::other;
    case 6:
      return name == "inputs" ? Key::tensors : name == "stream" ? Key::stream : Key::other;
    case 7:
      return name == "num_ops"   ? Key::num_ops
             : name == "pg_name" ? Key::pg_name
             : name == "outputs" ? Key::tensors
                                 : Key::other;
    case 8:
      return name == "delay_ps"   ? Key::delay
             : name == "comm_src" ? Key::comm_src
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
             : name == "in_switch" ? Key::in_switch
             : name == "algorithm" ? Key::algorithm
             : name == "iteration" ? Key::iteration
                                   : Key::other;
    case 10:
      return name == "tensor_loc" ? Key::location : name == "comm_order" ? Key::order : Key::other;
    case 11:
      return name == "tensor_size" ? Key::tensor_size : name == "duration_ps" ? Key::duration : Key::other;
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

bool varint_list(uint32_t field) {
  return wire_type_of(field - 1) == wire::kVarint && field != 30 && field != 32;
}

}  // namespace

/// The value of one attribute, as it is written.
struct AttributeReader::Value {
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

bool AttributeReader::read_value(Cursor& c, uint32_t field, uint32_t type, Value& value) {
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

bool AttributeReader::read(Cursor c) {
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

bool AttributeReader::store(std::string_view name, const Value& value) {
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
      if (count(name, value, n)) {
        node_.tensor_size = n;
        has_tensor_size_ = true;
      }
      return true;
    case Key::stream:
      if (value.shape == Value::Shape::number && !value.negative && value.magnitude <= ~uint32_t{0}) {
        node_.stream = static_cast<uint32_t>(value.magnitude);
        node_.has_stream = true;
      }
      return true;
    case Key::comm_type:
      collective_type(name, value);
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
    case Key::location:
      location(name, value);
      return true;
    case Key::remote:
      if (truth(name, value, n) && !has_location_)
        node_.location = n != 0 ? Location::remote : Location::local;
      return true;
    case Key::in_switch:
      if (truth(name, value, n)) node_.in_switch = n != 0;
      return true;
    case Key::pg_name:
      group_name(name, value);
      return true;
    case Key::iteration:
      if (value.shape == Value::Shape::number && !value.negative) {
        node_.iteration = value.magnitude;
        node_.has_iteration = true;
      }
      return true;
    case Key::algorithm:
      text(name, value, node_.algorithm);
      return true;
    case Key::duration:
      if (count(name, value, node_.duration)) node_.has_duration = true;
      return true;
    case Key::delay:
      count(name, value, node_.delay);
      return true;
    case Key::gemm_m:
      count(name, value, node_.gemm[0]);
      return true;
    case Key::gemm_k:
      count(name, value, node_.gemm[1]);
      return true;
    case Key::gemm_n:
      count(name, value, node_.gemm[2]);
      return true;
    case Key::delay_cycles:
      count(name, value, node_.delay_cycles);
      return true;
    case Key::order:
      order(name, value);
      return true;
    case Key::tensors:
      if (value.shape == Value::Shape::list) note_tensors();
      return true;
    case Key::involved_dim:
      return dimensions(name, value);
  }
  return true;
}

uint64_t chakra_number(CollectiveOp op) {
  return static_cast<uint64_t>(std::find(std::begin(kCollectives), std::end(kCollectives), op) -
                               std::begin(kCollectives));
}

void AttributeReader::collective_type(std::string_view name, const Value& value) {
  uint64_t n = 0;
  if (!count(name, value, n)) return;
  if (n >= kCollectiveTypes) {
    fail("{} is {}, but Chakra's collectives are 0 (ALL_REDUCE) to {} (BARRIER)", name, n,
         kCollectiveTypes - 1);
    return;
  }
  node_.has_comm_type = true;
  node_.op = kCollectives[n];
}

void AttributeReader::group_name(std::string_view name, const Value& value) {
  if (value.shape == Value::Shape::number)
    node_.pg_name = fmt::format("{}{}", value.negative ? "-" : "", value.magnitude);
  else
    text(name, value, node_.pg_name);
}

void AttributeReader::text(std::string_view name, const Value& value, std::string& out) {
  if (value.shape == Value::Shape::text)
    out = value.bytes.text();
  else
    note(name, value);
}

void AttributeReader::note(std::string_view name, const Value& value) {
  if (notes_ == nullptr) return;
  if (notes_->unreadable_attributes++ == 0) {
    notes_->first_unreadable =
        fmt::format("attribute \"{}\" of node number {} has kind {}{}", name, place_.number + 1,
                    kind_name(value.field), value.field > 32 ? fmt::format(" (field {})", value.field) : "");
  }
}

bool AttributeReader::truth(std::string_view name, const Value& value, uint64_t& n) {
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

bool AttributeReader::count(std::string_view name, const Value& value, uint64_t& n) {
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

bool AttributeReader::rank(std::string_view name, const Value& value, uint32_t& n) {
  uint64_t wide = 0;
  if (!count(name, value, wide)) return false;
  if (wide > std::numeric_limits<uint32_t>::max()) {
    fail("{} is {}, but must be below 2^32", name, wide);
    return false;
  }
  n = static_cast<uint32_t>(wide);
  return true;
}

void AttributeReader::priority(std::string_view name, const Value& value) {
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

void AttributeReader::order(std::string_view name, const Value& value) {
  if (value.shape != Value::Shape::text) {
    note(name, value);
    return;
  }
  for (int i = 1; i < kIssueOrders; ++i) {
    node_.order = static_cast<IssueOrder>(i);
    if (value.bytes.text() == to_string(node_.order)) return;
  }
  node_.order = IssueOrder::none;
  fail("{} is \"{}\", but the orders are system, lifo, fifo and highest", name, value.bytes.text());
}

void AttributeReader::location(std::string_view name, const Value& value) {
  static const char* const allowed = "0 (local), 1 (remote), 2 (host) and 3 (nvme)";
  has_location_ = true;
  if (value.shape == Value::Shape::text) {
    for (int i = 0; i < kLocations; ++i) {
      node_.location = static_cast<Location>(i);
      if (value.bytes.text() == to_string(node_.location)) return;
    }
    node_.location = Location::local;
    location_error_ =
        fmt::format("{} is \"{}\", but the locations are {}", name, value.bytes.text(), allowed);
    return;
  }
  if (value.shape != Value::Shape::number && value.shape != Value::Shape::real) {
    note(name, value);
    return;
  }
  const double number = value.shape == Value::Shape::real
                            ? value.real
                            : (value.negative ? -1.0 : 1.0) * static_cast<double>(value.magnitude);
  for (int i = 0; i < kLocations; ++i) {
    if (number != i) continue;
    node_.location = static_cast<Location>(i);
    return;
  }
  location_error_ = fmt::format("{} is {}, but the locations are {}", name, number, allowed);
}

bool AttributeReader::dimensions(std::string_view name, const Value& value) {
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

}  // namespace weft::trace
