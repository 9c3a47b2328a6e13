// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/decoded_program.h"

#include <limits>

#include "workload/trace/trace_index.h"

namespace weft::trace {
namespace {

constexpr uint64_t kReadingWindow = 1ull << 20;

/// What a string keeps beside the object.
uint64_t beside(const std::string& text) {
  static const size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}

}  // namespace

std::shared_ptr<const DecodedProgram> DecodedProgram::of(const TraceIndex& index, uint64_t most) {
  // The tables have one entry a node: a trace that is too long is known before it is read.
  constexpr uint64_t kTables = sizeof(Node) + 2 * sizeof(uint32_t);
  if (index.size() > most / kTables) return nullptr;
  const auto program = std::make_shared<DecodedProgram>();
  DecodedProgram& p = *program;
  p.nodes_.resize(index.size());
  p.first_.reserve(uint64_t{index.size()} + 1);
  p.bytes_ = index.size() * kTables;
  NodeCache cache = index.open_cache(kReadingWindow);
  Dependencies dependencies;
  for (NodeIndex i = 0; i < index.size(); ++i) {
    Node& node = p.nodes_[i];
    index.decode_as_written(cache, i, node, &dependencies);
    index.for_each_dependency(i, dependencies, [&p](NodeIndex before) { p.before_.push_back(before); });
    if (p.before_.size() > std::numeric_limits<uint32_t>::max()) return nullptr;
    p.first_.push_back(static_cast<uint32_t>(p.before_.size()));
    p.bytes_ +=
        beside(node.name) + beside(node.pg_name) + beside(node.algorithm) + node.involved_dim.capacity() / 8;
    if (p.bytes_ + 2 * p.before_.capacity() * sizeof(NodeIndex) > most) return nullptr;
  }
  p.before_.shrink_to_fit();
  p.bytes_ += 2 * p.before_.capacity() * sizeof(NodeIndex);
  p.find_dependents();
  return program;
}

void DecodedProgram::find_dependents() {
  first_after_.assign(nodes_.size() + 1, 0);
  for (const NodeIndex before : before_) ++first_after_[before + size_t{1}];
  for (size_t i = 0; i < nodes_.size(); ++i) first_after_[i + 1] += first_after_[i];
  after_.resize(before_.size());
  std::vector<uint32_t> next(first_after_.begin(), first_after_.end() - 1);
  for (NodeIndex i = 0; i < nodes_.size(); ++i)
    for (uint32_t k = 0; k < dependency_count(i); ++k) after_[next[dependencies(i)[k]]++] = i;
}

}  // namespace weft::trace
