// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/groups.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "configs/input_file.h"
#include "configs/printable.h"
#include "configs/types.h"

namespace weft::trace {
namespace {

const std::vector<GroupId> kNoGroups;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw UserError(ExitCode::trace, fmt::format("{}: {}", where, what));
}

/// Names come from the file: keeps messages to one readable line.
std::string shown(const std::string& name) {
  constexpr size_t kMost = 80;
  std::string text = printable(name.substr(0, kMost));
  return name.size() > kMost ? text + "..." : text;
}

/// Goes over a text, and tells where it is.
struct Tracked {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** seen;

  reference operator*() const { return *at; }
  Tracked& operator++() {
    *seen = ++at;
    return *this;
  }
  Tracked operator++(int) {
    const Tracked before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Tracked& other) const { return at == other.at; }
  bool operator!=(const Tracked& other) const { return at != other.at; }
};

}  // namespace

/// Takes the file piece by piece as the parser finds it: nothing is kept but the groups, and nothing deeper
/// than a list of ranks is ever entered.
class Groups::Reader {
 public:
  using Json = nlohmann::json;

  Reader(Groups& groups, const std::string& path, const std::string& text)
      : groups_(groups), path_(path), text_(text), seen_(text.data()) {}

  void read() {
    const char* const begin = text_.data();
    Json::sax_parse(Tracked{begin, &seen_}, Tracked{begin + text_.size(), &seen_}, this);
  }

  bool null() { return value("null", "null"); }
  bool boolean(bool b) { return value("boolean", b ? "true" : "false"); }
  bool number_integer(int64_t n) { return value("number", std::to_string(n)); }
  bool number_float(double, const std::string& written) { return value("number", shown(written)); }
  bool string(const std::string& s) { return value("string", fmt::format("\"{}\"", shown(s))); }
  bool binary(const std::vector<uint8_t>&) { return value("binary", "binary"); }
  bool number_unsigned(uint64_t n) {
    if (place_ != Place::group || n >= groups_.npus_) return value("number", std::to_string(n));
    group_.ranks.push_back(static_cast<uint32_t>(n));
    return true;
  }
  bool start_object(size_t) {
    if (place_ != Place::outside) return value("object", "a JSON object");
    place_ = Place::file;
    return true;
  }
  bool end_object() { return true; }
  bool start_array(size_t) {
    if (place_ != Place::file) return value("array", "a JSON array");
    place_ = Place::group;
    return true;
  }
  bool key(const std::string& name) {
    if (groups_.by_name_.count(name) != 0)
      fail(here(), fmt::format("group \"{}\" is defined twice. Remove one.", shown(name)));
    group_ = Group{};
    group_.name = name;
    return true;
  }
  bool end_array() {
    if (group_.ranks.empty())
      fail(here(),
           fmt::format("group \"{}\" has no ranks. Remove it or list its members.", shown(group_.name)));
    std::vector<uint32_t> sorted = group_.ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
      fail(here(), fmt::format("group \"{}\" lists rank {} twice. List every member once.",
                               shown(group_.name), *twice));
    if (sorted != group_.ranks) group_.sorted = std::move(sorted);
    group_.ranks.shrink_to_fit();
    const GroupId id = groups_.size();
    for (const uint32_t rank : group_.ranks) groups_.of_rank_[rank].push_back(id);
    groups_.by_name_.emplace(group_.name, id);
    groups_.groups_.push_back(std::move(group_));
    place_ = Place::file;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) {
    // nlohmann's text carries line and column; its bracketed error number is noise here.
    std::string reason = e.what();
    const auto bracket = reason.find("] ");
    if (bracket != std::string::npos) reason.erase(0, bracket + 2);
    if (reason.size() > kMostReason) reason = reason.substr(0, kMostReason) + "...";
    fail(path_, fmt::format("bad JSON: {}. A groups file is {{\"name\": [rank, ...], ...}}.", reason));
  }

 private:
  enum class Place { outside, file, group };
  static constexpr size_t kMostReason = 300;

  std::string here() const {
    return fmt::format("{}:{}", path_,
                       1 + std::count(text_.data(), std::min(seen_, text_.data() + text_.size()), '\n'));
  }

  /// A value that cannot stand where it does.
  bool value(const char* type, const std::string& written) {
    switch (place_) {
      case Place::outside:
        fail(here(),
             fmt::format("holds a JSON {}, but a groups file is an object {{\"name\": [rank, ...], ...}}.",
                         type));
      case Place::file:
        fail(here(), fmt::format("group \"{}\": its value is a JSON {}, not a list of ranks.",
                                 shown(group_.name), type));
      default:
        fail(
            here(),
            fmt::format("group \"{}\": {} is no rank of this machine, which has {} NPUs (ranks 0 to {}). Use "
                        "the groups file of this job, or a machine of its size.",
                        shown(group_.name), written, groups_.npus_, groups_.npus_ - 1));
    }
  }

  Groups& groups_;
  const std::string& path_;
  const std::string& text_;
  const char* seen_;  ///< where the parser is
  Place place_ = Place::outside;
  Group group_;
};

Groups::Groups(uint32_t npus) : npus_(npus) {
  Group world;
  world.ranks.resize(npus);
  std::iota(world.ranks.begin(), world.ranks.end(), 0u);
  groups_.push_back(std::move(world));
}

Groups Groups::load(const std::string& path, uint32_t npus) {
  const std::string text = read_input(path, kGroupsInput);
  if (text.empty()) fail(path, "the groups file is empty. It is a JSON object {\"name\": [rank, ...], ...}.");
  return parse(text, path, npus);
}

Groups Groups::parse(const std::string& text, const std::string& path, uint32_t npus) {
  Groups groups(npus);
  groups.of_rank_.resize(npus);
  Reader(groups, path, text).read();
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
    text += fmt::format(", \"{}\"", printable(groups_[i].name));
  }
  return text;
}

}  // namespace weft::trace
