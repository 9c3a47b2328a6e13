// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/text/text_trace.h"

#include <fmt/format.h>

#include <filesystem>

#include "workload/trace/attribute_reader.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_writer.h"

namespace weft::text {
namespace {

namespace pb = ChakraProtoMsg;

class Encoder {
 public:
  Encoder(const TextFile& file, const TrainingLoop& loop, size_t dimensions)
      : file_(file), loop_(loop), dimensions_(dimensions) {}

  std::string rank(uint64_t rank) {
    std::string out;
    pb::GlobalMetadata metadata;
    metadata.set_version("0.0.4");
    pb::AttributeProto* source = metadata.add_attr();
    source->set_name("source");
    source->set_string_val(std::filesystem::path(file_.path).filename().string());
    pb::AttributeProto* digest = metadata.add_attr();
    digest->set_name("source_sha256");
    digest->set_string_val(file_.sha256);
    trace::append_delimited(metadata, out);
    for (size_t i = 0; i < loop_.nodes.size(); ++i) {
      node_.Clear();
      node(i, rank);
      trace::append_delimited(node_, out);
    }
    return out;
  }

 private:
  pb::AttributeProto& attribute(const char* name) {
    pb::AttributeProto& a = *node_.add_attr();
    a.set_name(name);
    return a;
  }

  void node(size_t i, uint64_t rank) {
    const LoopNode& from = loop_.nodes[i];
    node_.set_id(i + 1);
    node_.set_name(node_name(file_, from));
    for (const uint32_t before : from.after) node_.add_data_deps(before + uint64_t{1});
    attribute("is_cpu_op").set_bool_val(false);
    attribute("iteration").set_int64_val(from.iteration);
    switch (from.kind) {
      case LoopNode::Kind::compute:
        node_.set_type(pb::COMP_NODE);
        attribute("duration_ps").set_uint64_val(from.time);
        node_.set_duration_micros((from.time + 500000) / 1000000);
        break;
      case LoopNode::Kind::delay:
        node_.set_type(pb::METADATA_NODE);
        attribute("delay_ps").set_uint64_val(from.time);
        break;
      case LoopNode::Kind::collective:
        collective(from, rank);
        break;
    }
  }

  void collective(const LoopNode& from, uint64_t rank) {
    node_.set_type(pb::COMM_COLL_NODE);
    attribute("comm_type").set_int64_val(static_cast<int64_t>(trace::chakra_number(from.op)));
    attribute("comm_size").set_uint64_val(from.bytes);
    attribute("comm_order").set_string_val(trace::to_string(from.order));
    constexpr int32_t kHighest = 100000000;  // 1.0's number, for `scheduling: priority`
    if (from.order == trace::IssueOrder::highest) attribute("comm_priority").set_int32_val(kHighest);
    if (from.span.block != 0) {
      attribute("pg_name").set_string_val(
          fmt::format("{}_{}", from.span.across ? "data" : "model",
                      from.span.across ? rank % from.span.block : rank / from.span.block));
      return;
    }
    if (from.span.dimensions == (uint64_t{1} << dimensions_) - 1) return;
    pb::BoolList& involved = *attribute("involved_dim").mutable_bool_list();
    for (size_t d = 0; d < dimensions_; ++d) involved.add_values((from.span.dimensions >> d & 1) != 0);
  }

  const TextFile& file_;
  const TrainingLoop& loop_;
  size_t dimensions_;
  pb::Node node_;
};

/// Two families of groups: blocks of ranks, and the ranks with the same place in their block.
std::string groups_of(const TrainingLoop& loop, uint64_t npus) {
  uint64_t block = 0;
  for (const LoopNode& node : loop.nodes)
    if (node.span.block != 0) block = node.span.block;
  std::string out = "{";
  const auto add = [&](const char* name, uint64_t number, uint64_t first, uint64_t step, uint64_t count) {
    out += fmt::format("{}\n  \"{}_{}\": [", out.size() > 1 ? "," : "", name, number);
    for (uint64_t i = 0; i < count; ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", first + i * step);
    out += "]";
  };
  for (uint64_t m = 0; m < npus / block; ++m) add("model", m, m * block, 1, block);
  for (uint64_t d = 0; d < block; ++d) add("data", d, d, block, npus / block);
  return out + "\n}\n";
}

}  // namespace

std::string node_name(const TextFile& file, const LoopNode& node) {
  const char* suffix = node.kind == LoopNode::Kind::compute ? ""
                       : node.kind == LoopNode::Kind::delay ? ".update"
                                                            : ".comm";
  return fmt::format("iter{}.layer{}.{}.{}{}", node.iteration, node.layer, to_string(node.pass),
                     file.layers[node.layer].name, suffix);
}

trace::MemoryTraces encode(const TextFile& file, const TrainingLoop& loop,
                           const std::vector<uint32_t>& sizes) {
  uint64_t npus = 1;
  for (const uint32_t size : sizes) npus *= size;
  trace::MemoryTraces traces;
  traces.path = file.path;
  traces.warnings = file.warnings;
  Encoder encoder(file, loop, sizes.size());
  std::shared_ptr<const std::string> shared;
  if (!loop.split) shared = std::make_shared<const std::string>(encoder.rank(0));
  for (uint64_t r = 0; r < npus; ++r)
    traces.of_rank.push_back(loop.split ? std::make_shared<const std::string>(encoder.rank(r)) : shared);
  if (loop.split) traces.groups = groups_of(loop, npus);
  return traces;
}

}  // namespace weft::text
