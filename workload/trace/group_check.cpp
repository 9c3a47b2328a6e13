// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/group_check.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace weft::trace {

std::string members_text(const Groups& groups, GroupId group) {
  const std::vector<uint32_t>& ranks = groups.ranks(group);
  std::string text;
  for (size_t i = 0; i < ranks.size() && i < 16; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  return ranks.size() > 16 ? text + ", ..." : text;
}

std::string group_refusal(const Groups& groups, const std::string& pg_name, uint32_t rank) {
  const std::optional<GroupId> group = groups.find(pg_name);
  if (!group)
    return fmt::format(
        "its communicator group \"{}\" is unknown. Known: {}. Set `workload.groups` to the traces' groups "
        "file, or define the group there.",
        pg_name, groups.known_names());
  if (groups.contains(*group, rank)) return {};
  return fmt::format(
      "its communicator group \"{}\" does not have rank {} as a member (members: {}). Use the groups file "
      "that belongs to these traces.",
      pg_name, rank, members_text(groups, *group));
}

}  // namespace weft::trace
