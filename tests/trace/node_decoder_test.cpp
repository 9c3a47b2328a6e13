// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/node_decoder.h"

#include <limits>
#include <random>

#include "tests/trace/trace_files.h"

namespace weft::trace::test {
namespace {

const std::string kPath = "t.4.et";

Node decode(const std::string& bytes, DecodeNotes* notes = nullptr, Dependencies* deps = nullptr) {
  Node node;
  const NodePlace place{&kPath, 4, 6, 1234};
  decode_node(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), place, node, deps, notes);
  return node;
}

Node decode(const PbNode& node, DecodeNotes* notes = nullptr) {
  return decode(node.SerializeAsString(), notes);
}

ChakraProtoMsg::AttributeProto* add(PbNode& node, const std::string& name) {
  auto* a = node.add_attr();
  a->set_name(name);
  return a;
}

// Every scalar kind that can hold a number.
template <typename F>
void with_each_kind(F&& f) {
  using A = ChakraProtoMsg::AttributeProto;
  f([](A* a, int v) { a->set_double_val(v); });
  f([](A* a, int v) { a->set_float_val(static_cast<float>(v)); });
  f([](A* a, int v) { a->set_int32_val(v); });
  f([](A* a, int v) { a->set_int64_val(v); });
  f([](A* a, int v) { a->set_uint32_val(static_cast<uint32_t>(v)); });
  f([](A* a, int v) { a->set_uint64_val(static_cast<uint64_t>(v)); });
  f([](A* a, int v) { a->set_sint32_val(v); });
  f([](A* a, int v) { a->set_sint64_val(v); });
  f([](A* a, int v) { a->set_fixed32_val(static_cast<uint32_t>(v)); });
  f([](A* a, int v) { a->set_fixed64_val(static_cast<uint64_t>(v)); });
  f([](A* a, int v) { a->set_sfixed32_val(v); });
  f([](A* a, int v) { a->set_sfixed64_val(v); });
}

TEST(NodeDecoder, ReadsEveryNumericKindOfEveryAttribute) {
  with_each_kind([](auto set) {
    PbNode node = make(7, "x", ChakraProtoMsg::COMM_COLL_NODE);
    set(add(node, "is_cpu_op"), 1);
    set(add(node, "num_ops"), 12345);
    set(add(node, "tensor_size"), 4096);
    set(add(node, "comm_type"), ChakraProtoMsg::ALL_TO_ALL);
    set(add(node, "comm_size"), 1 << 20);
    set(add(node, "comm_priority"), 9);
    set(add(node, "comm_root"), 3);
    set(add(node, "comm_tag"), 17);
    const Node n = decode(node);
    EXPECT_TRUE(n.is_cpu_op);
    EXPECT_EQ(n.num_ops, 12345u);
    EXPECT_EQ(n.tensor_size, 4096u);
    EXPECT_TRUE(n.has_comm_type);
    EXPECT_EQ(n.op, CollectiveOp::all_to_all);
    EXPECT_EQ(n.comm_size, 1u << 20);
    EXPECT_EQ(n.priority, 9);
    EXPECT_TRUE(n.has_root);
    EXPECT_EQ(n.root, 3u);
    EXPECT_EQ(n.tag, 17u);

    PbNode p = make(8, "s", ChakraProtoMsg::COMM_SEND_NODE);
    set(add(p, "comm_src"), 1);
    set(add(p, "comm_dst"), 2);
    EXPECT_EQ(decode(p).peer, 2u);
    p.set_type(ChakraProtoMsg::COMM_RECV_NODE);
    EXPECT_EQ(decode(p).peer, 1u);

    PbNode m = make(9, "m", ChakraProtoMsg::MEM_LOAD_NODE);
    EXPECT_EQ(decode(m).location, Location::local);
    set(add(m, "tensor_loc"), 1);
    EXPECT_EQ(decode(m).location, Location::remote);
  });
  PbNode node = make(7, "x", ChakraProtoMsg::COMP_NODE);
  add(node, "is_cpu_op")->set_bool_val(true);
  EXPECT_TRUE(decode(node).is_cpu_op);
}

TEST(NodeDecoder, CollectiveTypesInChakrasNumbering) {
  const CollectiveOp expected[] = {CollectiveOp::all_reduce,     CollectiveOp::reduce,
                                   CollectiveOp::all_gather,     CollectiveOp::gather,
                                   CollectiveOp::scatter,        CollectiveOp::broadcast,
                                   CollectiveOp::all_to_all,     CollectiveOp::reduce_scatter,
                                   CollectiveOp::reduce_scatter, CollectiveOp::barrier};
  for (int t = 0; t < 10; ++t) {
    EXPECT_EQ(decode(collective(1, static_cast<ChakraProtoMsg::CollectiveCommType>(t), 8)).op, expected[t]);
  }
  EXPECT_FALSE(decode(make(1, "wrapper", ChakraProtoMsg::COMM_COLL_NODE)).has_comm_type);
}

TEST(NodeDecoder, GroupNamesAndDimensions) {
  PbNode node = make(7, "x", ChakraProtoMsg::COMM_COLL_NODE);
  add(node, "pg_name")->set_string_val("tp");
  auto* list = add(node, "involved_dim")->mutable_bool_list();
  list->add_values(true);
  list->add_values(false);
  list->add_values(true);
  Node n = decode(node);
  EXPECT_EQ(n.pg_name, "tp");
  EXPECT_EQ(n.involved_dim, (std::vector<bool>{true, false, true}));

  PbNode other = make(7, "x", ChakraProtoMsg::COMM_COLL_NODE);
  add(other, "pg_name")->set_int32_val(12);
  add(other, "involved_dim")->set_bool_val(true);
  n = decode(other);
  EXPECT_EQ(n.pg_name, "12");
  EXPECT_EQ(n.involved_dim, std::vector<bool>{true});

  PbNode ints = make(7, "x", ChakraProtoMsg::COMM_COLL_NODE);
  ints.add_attr()->set_name("involved_dim");
  ints.mutable_attr(0)->mutable_int64_list()->add_values(0);
  ints.mutable_attr(0)->mutable_int64_list()->add_values(1);
  EXPECT_EQ(decode(ints).involved_dim, (std::vector<bool>{false, true}));
}

TEST(NodeDecoder, DurationsAndDependencies) {
  PbNode node = comp(7, {1, 2, 300}, 25);
  node.add_ctrl_deps(4);
  Dependencies deps;
  const Node n = decode(node.SerializeAsString(), nullptr, &deps);
  EXPECT_TRUE(n.has_duration);
  EXPECT_EQ(n.duration, 25000000u);
  EXPECT_EQ(deps.data, (std::vector<uint64_t>{1, 2, 300}));
  EXPECT_EQ(deps.control, std::vector<uint64_t>{4});
  EXPECT_FALSE(decode(comp(7, {}, 0)).has_duration);
  // The same unpacked, as proto2 writers do: field 5, varint.
  EXPECT_NO_THROW(decode(std::string("\x08\x07\x28\x01\x28\x02", 6), nullptr, &deps));
  EXPECT_EQ(deps.data, (std::vector<uint64_t>{1, 2}));
}

TEST(NodeDecoder, UnreadableKindsAreNotedNotFatal) {
  DecodeNotes notes;
  PbNode node = comp(7);
  add(node, "num_ops")->set_string_val("many");
  add(node, "some_list")->mutable_string_list();
  add(node, "no_value");
  Node n = decode(node, &notes);
  EXPECT_EQ(n.num_ops, 0u);
  EXPECT_EQ(notes.unreadable_attributes, 1u);
  EXPECT_NE(notes.first_unreadable.find("num_ops"), std::string::npos);
  EXPECT_NE(notes.first_unreadable.find("string"), std::string::npos);
  // A kind of a later version: field 40 of the attribute.
  std::string bytes = comp(7).SerializeAsString() + std::string("\x52\x06\x0a\x01q\xc0\x02\x05", 8);
  notes = {};
  decode(bytes, &notes);
  EXPECT_EQ(notes.unreadable_attributes, 1u);
  EXPECT_NE(notes.first_unreadable.find("field 40"), std::string::npos);
}

TEST(NodeDecoder, ImpossibleValuesNameFileRankNodeAndValue) {
  const auto expect = [](const PbNode& node, std::initializer_list<std::string> parts) {
    expect_error([&] { decode(node); }, {"t.4.et", "rank 4", "node 7", "byte 1234", "Mend"});
    expect_error([&] { decode(node); }, parts);
  };
  for (const char* name :
       {"num_ops", "tensor_size", "comm_size", "comm_src", "comm_dst", "comm_tag", "comm_type", "root"}) {
    PbNode node = comp(7);
    attribute(node, name, -3);
    expect(node, {name, "-3", "negative"});
  }
  PbNode node = comp(7);
  add(node, "num_ops")->set_double_val(-1.5);
  expect(node, {"num_ops", "-1.5"});
  node = comp(7);
  add(node, "num_ops")->set_double_val(std::numeric_limits<double>::quiet_NaN());
  expect(node, {"num_ops", "nan"});
  node = comp(7);
  attribute(node, "comm_dst", int64_t{1} << 32);
  expect(node, {"comm_dst", "4294967296"});
  node = comp(7, {}, ~uint64_t{0});
  expect(node, {"duration_micros", "18446744073709551615"});
  node = comp(7);
  node.set_type(static_cast<ChakraProtoMsg::NodeType>(12));
  expect(node, {"type is 12", "0 to 7"});
  node = collective(7, static_cast<ChakraProtoMsg::CollectiveCommType>(10), 8);
  expect(node, {"comm_type", "10"});
  expect(make(7, "s", ChakraProtoMsg::COMM_SEND_NODE), {"without comm_dst"});
  expect(make(7, "s", ChakraProtoMsg::COMM_RECV_NODE), {"without comm_src"});
  // A negative priority is one.
  node = comp(7);
  attribute(node, "comm_priority", -5);
  EXPECT_EQ(decode(node).priority, -5);
}

TEST(NodeDecoder, ACpuSideSendWithoutPeerIsAWrapper) {
  PbNode node = make(7, "c10d::send", ChakraProtoMsg::COMM_SEND_NODE);
  attribute(node, "is_cpu_op", 1);
  EXPECT_EQ(decode(node).type, NodeType::metadata);
}

// Whatever bytes are in a message, decoding ends in a node or in an error, never outside the message (the
// sanitizers of the asan preset watch that).
TEST(NodeDecoder, DamagedBytesNeverEscape) {
  PbNode node = collective(7, ChakraProtoMsg::ALL_GATHER, 1 << 20, "g");
  node.add_data_deps(5);
  auto* list = add(node, "involved_dim")->mutable_bool_list();
  for (int i = 0; i < 3; ++i) list->add_values(i == 1);
  node.mutable_inputs()->set_values("abc");
  const std::string whole = node.SerializeAsString();
  std::mt19937 random(1);
  int failures = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 2 == 0) bytes.resize(random() % bytes.size());
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    Node out;
    Dependencies deps;
    const NodePlace place{&kPath, 0, 0, 0};
    try {
      decode_node(exact.data(), exact.size(), place, out, &deps, nullptr);
      Dependencies again;
      decode_dependencies(exact.data(), exact.size(), place, again);
      EXPECT_EQ(again.data, deps.data);
      EXPECT_EQ(again.control, deps.control);
    } catch (const UserError&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 1000);
}

}  // namespace
}  // namespace weft::trace::test
