// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/longest_path.h"

#include <algorithm>

#include "workload/trace/dependency_walk.h"

namespace weft::trace {

LongestPath longest_path(const TraceIndex& index, const std::function<Picoseconds(const Node&)>& cost,
                         uint64_t cache_bytes) {
  LongestPath result;
  if (index.size() == 0) return result;
  NodeCache cache = index.open_cache(cache_bytes);
  RawVector<Picoseconds> finish;
  finish.reset(index.size());
  Node node;
  Dependencies deps;
  const auto visit = [&](NodeIndex i) {
    index.decode(cache, i, node, &deps);
    Picoseconds start = 0;
    index.for_each_dependency(i, deps, [&](NodeIndex p) { start = std::max(start, finish[p]); });
    const Picoseconds c = cost(node);
    finish[i] = start > ~Picoseconds{0} - c ? ~Picoseconds{0} : start + c;
    if (result.last == kNoNode || finish[i] > result.time) {
      result.time = finish[i];
      result.last = i;
    }
  };
  if (index.file_ordered()) {
    for (NodeIndex i = 0; i < index.size(); ++i) visit(i);
  } else {
    DependencyWalk walk(index, cache);
    for (NodeIndex i = walk.take(); i != kNoNode; i = walk.take()) {
      visit(i);
      walk.finish(i);
    }
  }
  // Back along the dependencies that finished last.
  NodeIndex i = result.last;
  while (i != kNoNode) {
    ++result.nodes;
    result.first = i;
    index.dependencies(cache, i, deps);
    NodeIndex before = kNoNode;
    index.for_each_dependency(i, deps, [&](NodeIndex p) {
      if (before == kNoNode || finish[p] > finish[before]) before = p;
    });
    i = before;
  }
  result.first_id = index.id(result.first);
  result.last_id = index.id(result.last);
  return result;
}

}  // namespace weft::trace
