// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Writes the nodes of one rank's trace. Private to the generators of training steps.

#ifndef WEFT_WORKLOAD_GENERATE_RANK_TRACE_WRITER_H
#define WEFT_WORKLOAD_GENERATE_RANK_TRACE_WRITER_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "workload/generate/trace_file.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/node.h"
#include "workload/trace/slowdown.h"

namespace weft::generate {

using NodeId = uint64_t;
constexpr NodeId kNone = 0;  ///< ids begin at 1
using Deps = std::initializer_list<NodeId>;

/// Element-wise operations per element, as they are usually counted.
constexpr uint64_t kNormOps = 5;
constexpr uint64_t kActivationOps = 8;
constexpr uint64_t kSoftmaxOps = 5;
/// Adam in mixed precision, per parameter.
constexpr uint64_t kOptimizerOps = 12;

/// Ids rise in the order of writing. A dependency on kNone is none; each is written once.
class RankTraceWriter {
 public:
  /// Writes the metadata, too. `file` outlives the writer.
  explicit RankTraceWriter(TraceFile& file);

  /// What the names of the next nodes begin with: "mb0.forward.layer3.".
  void prefix(std::string text) { prefix_ = std::move(text); }
  const std::string& prefix() const { return prefix_; }
  /// The attribute `iteration` of the next nodes.
  void iteration(uint64_t number) { iteration_ = number; }
  /// From now on every collective waits for the compute before it, and the compute behind it waits for it.
  void serialise() { serial_ = true; }
  /// Of the next compute nodes (trace/slowdown.h).
  void slow_down(uint64_t slowness) { slowness_ = slowness; }
  /// What a compute node of so much has on this rank.
  uint64_t slowed(uint64_t amount) const { return trace::slowed(amount, slowness_); }
  /// The next compute node waits for this one, too.
  void wait_for(NodeId id) { waits_.push_back(id); }
  uint64_t nodes() const { return next_id_ - 1; }
  /// The last compute node.
  NodeId stream() const { return stream_; }

  void begin(const std::string& name, ChakraProtoMsg::NodeType type);
  void data(NodeId dependency);
  void control(NodeId dependency);
  NodeId end();

  ChakraProtoMsg::AttributeProto& attribute(const char* name);
  void boolean(const char* name, bool value) { attribute(name).set_bool_val(value); }
  void int32(const char* name, uint64_t value) { attribute(name).set_int32_val(static_cast<int32_t>(value)); }
  void int64(const char* name, uint64_t value) { attribute(name).set_int64_val(static_cast<int64_t>(value)); }
  void uint64(const char* name, uint64_t value) { attribute(name).set_uint64_val(value); }

  /// Compute nodes form one stream: each has a control dependency on the one before.
  template <class Dependencies>
  NodeId compute(const std::string& name, const char* op_type, uint64_t ops, uint64_t bytes,
                 const Dependencies& deps) {
    begin(name, ChakraProtoMsg::COMP_NODE);
    for (const NodeId dep : deps) data(dep);
    waited();
    control(stream_);
    int64("num_ops", slowed(ops));
    uint64("tensor_size", slowed(bytes));
    attribute("op_type").set_string_val(op_type);
    return stream_ = end();
  }

  template <class Dependencies>
  NodeId collective(const std::string& name, ChakraProtoMsg::CollectiveCommType type,
                    const std::string& group, uint64_t bytes, const Dependencies& deps,
                    NodeId after = kNone) {
    begin(name, ChakraProtoMsg::COMM_COLL_NODE);
    for (const NodeId dep : deps) data(dep);
    control(after);
    if (serial_) control(stream_);
    int64("comm_type", type);
    int64("comm_size", bytes);
    attribute("pg_name").set_string_val(group);
    const NodeId id = end();
    if (serial_) wait_for(id);
    return id;
  }
  /// The dependencies that wait_for() has asked for, at the node that was begun.
  void waited() {
    for (const NodeId id : waits_) data(id);
    waits_.clear();
  }

  /// Ends a compute node that was begun: the stream goes on behind it.
  NodeId computed() { return stream_ = end(); }

  /// A MEM_LOAD or MEM_STORE of a tensor in `location`.
  NodeId memory(const std::string& name, bool store, trace::Location location, uint64_t bytes, Deps deps,
                NodeId after = kNone);

 private:
  TraceFile& file_;
  std::string prefix_;
  NodeId next_id_ = 1;
  NodeId stream_ = kNone;
  std::optional<uint64_t> iteration_;
  bool serial_ = false;
  uint64_t slowness_ = trace::kFullSpeed;
  std::vector<NodeId> waits_;
  ChakraProtoMsg::Node node_;
};

}  // namespace weft::generate

#endif
