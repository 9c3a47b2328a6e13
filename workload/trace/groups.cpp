// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/groups.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "configs/types.h"

namespace weft::trace {
namespace {

const std::vector<GroupId> kNoGroups;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(ExitCode::trace, fmt::format("{}: {}", path, what));
}

}  // namespace

Groups::Groups(uint32_t npus) : npus_(npus) {
  Group world;
  world.ranks.resize(npus);
  std::iota(world.ranks.begin(), world.ranks.end(), 0u);
  groups_.push_back(std::move(world));
}

Groups Groups::load(const std::string& path, uint32_t npus) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || text.str().empty()) {
    fail(path, fmt::format("the groups file cannot be read: {}. Check `workload.groups`.",
                           in ? "it is empty or a folder" : std::strerror(errno)));
  }

  using Json = nlohmann::ordered_json;
  Json json;
  try {
    std::vector<std::string> seen;
    const auto unique_keys = [&](int depth, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::key && depth == 1) seen.push_back(value.get<std::string>());
      return true;
    };
    json = Json::parse(text.str(), unique_keys);
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    if (twice != seen.end()) fail(path, fmt::format("group \"{}\" is defined twice. Remove one.", *twice));
  } catch (const nlohmann::json::exception& e) {
    // nlohmann's text carries line and column; its bracketed error number is noise here.
    std::string reason = e.what();
    const auto bracket = reason.find("] ");
    if (bracket != std::string::npos) reason.erase(0, bracket + 2);
    fail(path, fmt::format("bad JSON: {}. A groups file is {{\"name\": [rank, ...], ...}}.", reason));
  }
  if (!json.is_object()) {
    fail(path, fmt::format("holds a JSON {}, but a groups file is an object {{\"name\": [rank, ...], ...}}.",
                           json.type_name()));
  }

  Groups groups(npus);
  groups.of_rank_.resize(npus);
  for (const auto& [name, ranks] : json.items()) {
    if (!ranks.is_array()) {
      fail(path, fmt::format("group \"{}\": its value is a JSON {}, not a list of ranks.", name,
                             ranks.type_name()));
    }
    if (ranks.empty())
      fail(path, fmt::format("group \"{}\" has no ranks. Remove it or list its members.", name));
    Group group;
    group.name = name;
    for (const auto& rank : ranks) {
      // dump() shows the value as it was written, whatever it is.
      if (!rank.is_number_unsigned() || rank.get<uint64_t>() >= npus) {
        fail(path, fmt::format(
                       "group \"{}\": {} is no rank of this machine, which has {} NPUs (ranks 0 to {}). Use "
                       "the groups file of this job, or a machine of its size.",
                       name, rank.dump(-1, ' ', false, Json::error_handler_t::replace), npus, npus - 1));
      }
      group.ranks.push_back(rank.get<uint32_t>());
    }
    std::vector<uint32_t> sorted = group.ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      fail(path, fmt::format("group \"{}\" lists rank {} twice. List every member once.", name, *twice));
    }
    if (sorted != group.ranks) group.sorted = std::move(sorted);
    const GroupId id = groups.size();
    for (uint32_t rank : group.ranks) groups.of_rank_[rank].push_back(id);
    groups.by_name_.emplace(name, id);
    groups.groups_.push_back(std::move(group));
  }
  return groups;
}

std::optional<GroupId> Groups::find(const std::string& pg_name) const {
  const auto it = by_name_.find(pg_name);
  if (it != by_name_.end()) return it->second;
  if (pg_name.empty() || pg_name == "0") return kWorld;
  return std::nullopt;
}

bool Groups::contains(GroupId group, uint32_t rank) const {
  if (group == kWorld) return rank < npus_;
  const Group& g = groups_[group];
  const auto& sorted = g.sorted.empty() ? g.ranks : g.sorted;
  return std::binary_search(sorted.begin(), sorted.end(), rank);
}

const std::vector<GroupId>& Groups::of_rank(uint32_t rank) const {
  return rank < of_rank_.size() ? of_rank_[rank] : kNoGroups;
}

std::string Groups::known_names(size_t limit) const {
  std::string text = "\"\" or \"0\" (all ranks)";
  for (size_t i = 1; i < groups_.size(); ++i) {
    if (i > limit) return text + fmt::format(", ... ({} in all)", groups_.size() - 1);
    text += fmt::format(", \"{}\"", groups_[i].name);
  }
  return text;
}

}  // namespace weft::trace
