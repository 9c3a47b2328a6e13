// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/rank_trace_writer.h"

namespace weft::generate {

namespace pb = ChakraProtoMsg;

RankTraceWriter::RankTraceWriter(TraceFile& file) : file_(file) {
  pb::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  file_.write(metadata);
}

void RankTraceWriter::begin(const std::string& name, pb::NodeType type) {
  node_.Clear();
  node_.set_id(next_id_++);
  node_.set_name(prefix_ + name);
  node_.set_type(type);
  boolean("is_cpu_op", false);
  if (iteration_) int64("iteration", *iteration_);
}

void RankTraceWriter::data(NodeId dependency) {
  if (dependency == kNone) return;
  const auto& deps = node_.data_deps();
  if (std::find(deps.begin(), deps.end(), dependency) == deps.end()) node_.add_data_deps(dependency);
}

void RankTraceWriter::control(NodeId dependency) {
  const auto& deps = node_.data_deps();
  if (dependency != kNone && std::find(deps.begin(), deps.end(), dependency) == deps.end())
    node_.add_ctrl_deps(dependency);
}

NodeId RankTraceWriter::end() {
  file_.write(node_);
  return node_.id();
}

pb::AttributeProto& RankTraceWriter::attribute(const char* name) {
  pb::AttributeProto& attribute = *node_.add_attr();
  attribute.set_name(name);
  return attribute;
}

NodeId RankTraceWriter::memory(const std::string& name, bool store, trace::Location location, uint64_t bytes,
                               Deps deps, NodeId after) {
  begin(name, store ? pb::MEM_STORE_NODE : pb::MEM_LOAD_NODE);
  for (const NodeId dep : deps) data(dep);
  control(after);
  uint64("tensor_size", bytes);
  if (location != trace::Location::local) int32("tensor_loc", static_cast<int32_t>(location));
  return end();
}

}  // namespace weft::generate
