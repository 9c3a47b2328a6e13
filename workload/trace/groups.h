// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Communicator groups: a JSON object, group name -> list of ranks ({"9": [0, 2, 4, 6], ...}), named by a
// node's pg_name.

#ifndef WEFT_WORKLOAD_TRACE_GROUPS_H
#define WEFT_WORKLOAD_TRACE_GROUPS_H

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::trace {

/// Position of a group in Groups; kWorld is the group of all ranks, which needs no file.
using GroupId = uint32_t;
constexpr GroupId kWorld = 0;

class Groups {
 public:
  /// No file: only the group of all ranks, named "" or "0".
  explicit Groups(uint32_t npus);

  /// Reads a groups file, in time and memory that grow with its length only. "" and "0" name all ranks unless
  /// the file defines them. Throws UserError(trace) with the line on bad JSON, a rank outside 0..npus-1, a
  /// rank given twice, an empty group, a group defined twice.
  static Groups load(const std::string& path, uint32_t npus);
  /// The same from a file's text. Messages name `path`.
  static Groups parse(const std::string& text, const std::string& path, uint32_t npus);

  /// The group a pg_name means; nothing when it is unknown.
  std::optional<GroupId> find(const std::string& pg_name) const;

  uint32_t size() const { return static_cast<uint32_t>(groups_.size()); }
  uint32_t npus() const { return npus_; }
  /// As written in the file; "" for kWorld.
  const std::string& name(GroupId group) const { return groups_[group].name; }
  /// Members in the order of the file (all ranks ascending for kWorld).
  const std::vector<uint32_t>& ranks(GroupId group) const { return groups_[group].ranks; }
  bool contains(GroupId group, uint32_t rank) const;
  /// The groups of the file that a rank belongs to, ascending, without kWorld.
  const std::vector<GroupId>& of_rank(uint32_t rank) const;
  /// Names for messages: at most `limit` of them.
  std::string known_names(size_t limit = 12) const;

 private:
  class Reader;
  struct Group {
    std::string name;
    std::vector<uint32_t> ranks;
    std::vector<uint32_t> sorted;  ///< empty when `ranks` ascends already
  };

  uint32_t npus_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, GroupId> by_name_;
  std::vector<std::vector<GroupId>> of_rank_;
};

}  // namespace weft::trace

#endif
