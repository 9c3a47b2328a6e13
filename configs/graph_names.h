// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Names of a graph's nodes: `npu3`, a switch's name, the range `npu0..npu3`. Private to the reader and the
// printer of graphs.

#ifndef WEFT_CONFIGS_GRAPH_NAMES_H
#define WEFT_CONFIGS_GRAPH_NAMES_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "configs/document.h"
#include "configs/graph.h"

namespace weft {

/// For messages: the beginning of a long one.
std::string shown_name(const std::string& name);

/// `npu` and a number.
bool is_npu_name(const std::string& name);

std::string node_name(const GraphSpec& spec, uint32_t node);

/// Consecutive nodes as a range or a single name; "" when their names make no range.
std::string range_text(const GraphSpec& spec, uint32_t first, uint32_t last);

/// The nodes of `a..b`, or of one name. Names are made one at a time: a range of 8,192 names in a file of a
/// few bytes must not cost more than the nodes that exist.
class NameRange {
 public:
  /// Throws UserError.
  explicit NameRange(const std::string& text);
  uint64_t size() const { return size_; }
  std::string name(uint64_t i) const;

 private:
  std::string name_;  ///< of a range: without the number
  uint64_t first_ = 0;
  uint64_t size_ = 1;
  bool numbered_ = false;
};

/// From the names of a graph's nodes to their numbers.
class NodeNames {
 public:
  explicit NodeNames(const GraphSpec& spec);

  /// A node, a range or a list of them. Throws UserError.
  std::vector<uint32_t> read(const DocumentNode& node) const;

 private:
  void add(const std::string& text, std::vector<uint32_t>& out) const;
  uint32_t find(const std::string& name) const;

  uint32_t npus_;
  std::map<std::string, uint32_t> switches_;
};

}  // namespace weft

#endif
