// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/class_manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "configs/input_file.h"
#include "configs/types.h"

namespace weft::trace {
namespace {

using nlohmann::json;

constexpr const char* kSuffix = ".classes.json";
constexpr uint32_t kMostRanks = 1u << 24;
constexpr int kDeepest = 3;  ///< the manifest, `classes`, a class, its `at`

class ClassView final : public RankView {
 public:
  ClassView(std::shared_ptr<const ClassManifest> manifest, uint32_t first)
      : manifest_(std::move(manifest)), first_(first) {}

  void apply(uint32_t rank, Node& node) const override {
    switch (node.type) {
      case NodeType::comm_coll:
        if (const auto* kind = manifest_->kind(node.pg_name))
          node.pg_name = std::to_string(manifest_->group(*kind, rank));
        if (node.has_root && node.root < manifest_->ranks())
          node.root = manifest_->moved(node.root, first_, rank);
        break;
      case NodeType::comm_send:
      case NodeType::comm_recv:
        if (node.peer < manifest_->ranks()) node.peer = manifest_->moved(node.peer, first_, rank);
        if (node.has_own_end && node.own_end < manifest_->ranks())
          node.own_end = manifest_->moved(node.own_end, first_, rank);
        break;
      case NodeType::comp:
        slow_down(rank, node);
        break;
      default:
        break;
    }
  }

 private:
  /// A slow rank is one that has more to do.
  void slow_down(uint32_t rank, Node& node) const {
    const uint64_t slowness = manifest_->slowness(rank);
    if (slowness == kFullSpeed) return;
    node.gemm[0] = slowed(node.gemm[0], slowness);
    node.delay_cycles = slowed(node.delay_cycles, slowness);
    node.num_ops = slowed(node.num_ops, slowness);
    node.tensor_size = slowed(node.tensor_size, slowness);
    node.duration = slowed(node.duration, slowness);
  }

  const std::shared_ptr<const ClassManifest> manifest_;
  const uint32_t first_;
};

}  // namespace

/// Reads and checks a manifest.
class ManifestReader {
 public:
  explicit ManifestReader(const std::string& path) : manifest_(std::make_shared<ClassManifest>()) {
    manifest_->path_ = path;
  }

  std::shared_ptr<const ClassManifest> read() {
    const json all = json::parse(
        read_input(manifest_->path_, kGroupsInput),
        [this](int depth, json::parse_event_t event, const json& value) {
          check_entry(depth, event, value);
          return true;
        },
        false);
    if (all.is_discarded()) fail("it is not JSON; write it with `weft generate llm --classes`");
    only("the manifest", all, {"weft_classes", "ranks", "axes", "groups", "classes", "slow"});
    number("the manifest", all, "weft_classes", 1, 1);  // the version of the format
    read_axes(member("the manifest", all, "axes"));
    manifest_->ranks_ = number("the manifest", all, "ranks", 1, kMostRanks);
    uint64_t product = 1;
    for (const auto& axis : manifest_->axes_)
      product = std::min<uint64_t>(product * axis.size, kMostRanks + 1ull);
    if (product != manifest_->ranks_)
      fail(fmt::format("`ranks` is {}, and the sizes of `axes` make {}; they must agree", manifest_->ranks_,
                       product));
    check_strides();
    read_kinds(member("the manifest", all, "groups"));
    read_classes(member("the manifest", all, "classes"));
    if (all.contains("slow")) read_slow(all["slow"]);
    return manifest_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}: {}", manifest_->path_, what));
  }

  /// While the file is parsed: no key twice in one object, and nothing deeper than a manifest ever is.
  void check_entry(int depth, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
      if (depth > kDeepest)
        fail(
            "its values are nested deeper than in any manifest; write it with `weft generate llm "
            "--classes`");
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end || event == json::parse_event_t::array_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key && !keys_.back().insert(value.get<std::string>()).second) {
      fail(fmt::format("the key {} is there twice in one object; remove one", value.dump()));
    }
  }

  const json& member(const std::string& of, const json& object, const char* key) const {
    if (!object.is_object()) fail(fmt::format("{} is no object ({{..}})", of));
    const auto at = object.find(key);
    if (at == object.end()) fail(fmt::format("{} has no `{}`; add it", of, key));
    return *at;
  }
  void only(const std::string& of, const json& object, const std::set<std::string>& keys) const {
    if (!object.is_object()) fail(fmt::format("{} is no object ({{..}})", of));
    for (const auto& entry : object.items()) {
      if (keys.count(entry.key()) == 0)
        fail(fmt::format("{}: unknown key `{}`; there are {}", of, entry.key(), fmt::join(keys, ", ")));
    }
  }
  uint32_t number(const std::string& of, const json& object, const char* key, uint32_t least,
                  uint32_t most) const {
    const json& value = member(of, object, key);
    if (!value.is_number_unsigned() || value.get<uint64_t>() < least || value.get<uint64_t>() > most)
      fail(fmt::format("{}: `{}` is {}; a whole number from {} to {} is wanted", of, key, value.dump(), least,
                       most));
    return value.get<uint32_t>();
  }
  std::string string(const std::string& of, const json& object, const char* key) const {
    const json& value = member(of, object, key);
    if (!value.is_string() || value.get<std::string>().empty())
      fail(fmt::format("{}: `{}` is {}; a name is wanted", of, key, value.dump()));
    return value.get<std::string>();
  }
  uint32_t axis(const std::string& of, const json& name) const {
    for (uint32_t a = 0; a < manifest_->axes_.size(); ++a) {
      if (name.is_string() && manifest_->axes_[a].name == name.get<std::string>()) return a;
    }
    fail(fmt::format("{}: {} is no axis of the manifest", of, name.dump()));
  }
  std::vector<uint32_t> axes(const std::string& of, const json& object, const char* key) const {
    const json& names = member(of, object, key);
    if (!names.is_array())
      fail(fmt::format("{}: `{}` is {}; a list of axes is wanted", of, key, names.dump()));
    std::vector<uint32_t> result;
    for (const json& name : names) {
      result.push_back(axis(of, name));
      if (std::count(result.begin(), result.end(), result.back()) > 1)
        fail(fmt::format("{}: `{}` names axis {} twice", of, key, name.dump()));
    }
    return result;
  }

  void read_axes(const json& list) {
    if (!list.is_array() || list.empty()) fail("`axes` is no list of axes");
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string of = fmt::format("axes[{}]", i);
      only(of, list[i], {"name", "size", "stride"});
      const ClassManifest::Axis axis{string(of, list[i], "name"), number(of, list[i], "size", 1, kMostRanks),
                                     number(of, list[i], "stride", 1, kMostRanks)};
      for (const auto& other : manifest_->axes_) {
        if (other.name == axis.name) fail(fmt::format("{}: there are two axes `{}`", of, axis.name));
      }
      manifest_->axes_.push_back(axis);
    }
  }

  /// Coordinates must number the ranks one to one.
  void check_strides() const {
    std::vector<ClassManifest::Axis> sorted = manifest_->axes_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tie(a.stride, a.size) < std::tie(b.stride, b.size);
    });
    uint64_t stride = 1;
    for (const auto& axis : sorted) {
      if (axis.size == 1) continue;
      if (axis.stride != stride)
        fail(fmt::format("axis `{}`: its stride is {}, and {} is the one that leaves no rank out", axis.name,
                         axis.stride, stride));
      stride *= axis.size;
    }
  }

  void read_kinds(const json& kinds) {
    if (!kinds.is_object()) fail("`groups` is no object ({..})");
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (const auto& entry : kinds.items()) {
      const std::string of = fmt::format("groups.{}", entry.key());
      only(of, entry.value(), {"axes", "counted", "first"});
      ClassManifest::Kind kind;
      kind.name = entry.key();
      kind.axes = axes(of, entry.value(), "axes");
      kind.counted = axes(of, entry.value(), "counted");
      kind.first = number(of, entry.value(), "first", 1, ~0u);
      uint64_t groups = 1;
      for (const uint32_t a : kind.counted) {
        groups *= manifest_->axes_[a].size;
        if (std::count(kind.axes.begin(), kind.axes.end(), a) != 0)
          fail(fmt::format("{}: axis `{}` is in `axes` and in `counted`", of, manifest_->axes_[a].name));
      }
      if (kind.axes.size() + kind.counted.size() != manifest_->axes_.size())
        fail(fmt::format("{}: `axes` and `counted` together must name every axis", of));
      for (const auto& [first, last] : taken) {
        if (kind.first <= last && first < kind.first + groups)
          fail(fmt::format("{}: its groups' numbers {} to {} are another kind's, too", of, kind.first,
                           kind.first + groups - 1));
      }
      taken.emplace_back(kind.first, kind.first + groups - 1);
      manifest_->kinds_.push_back(std::move(kind));
    }
  }

  void read_classes(const json& list) {
    if (!list.is_array() || list.empty()) fail("`classes` is no list of classes");
    const std::filesystem::path folder = std::filesystem::path(manifest_->path_).parent_path();
    manifest_->class_of_.assign(manifest_->ranks_, ClassManifest::kAny);
    for (uint32_t i = 0; i < list.size(); ++i) {
      const std::string of = fmt::format("classes[{}]", i);
      only(of, list[i], {"program", "at"});
      ClassManifest::Class c;
      c.program = (folder / string(of, list[i], "program")).string();
      c.fixed.assign(manifest_->axes_.size(), ClassManifest::kAny);
      const json& at = member(of, list[i], "at");
      if (!at.is_object()) fail(fmt::format("{}: `at` is no object ({{..}})", of));
      for (const auto& entry : at.items()) {
        const uint32_t a = axis(of, json(entry.key()));
        c.fixed[a] = number(of, at, entry.key().c_str(), 0, manifest_->axes_[a].size - 1);
        c.first += c.fixed[a] * manifest_->axes_[a].stride;
      }
      take_ranks(c, i, of);
      manifest_->classes_.push_back(std::move(c));
    }
    const auto none =
        std::find(manifest_->class_of_.begin(), manifest_->class_of_.end(), ClassManifest::kAny);
    if (none != manifest_->class_of_.end())
      fail(fmt::format("rank {} is in no class; add one", none - manifest_->class_of_.begin()));
  }

  void read_slow(const json& list) {
    if (!list.is_array()) fail("`slow` is no list of ranks");
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string of = fmt::format("slow[{}]", i);
      only(of, list[i], {"rank", "compute"});
      const uint32_t rank = number(of, list[i], "rank", 0, manifest_->ranks_ - 1);
      const json& factor = member(of, list[i], "compute");
      const auto slowness = factor.is_number() ? slowness_of(factor.get<double>()) : std::nullopt;
      if (!slowness)
        fail(fmt::format("{}: `compute` is {}; {} is wanted, by which compute takes longer", of,
                         factor.dump(), kSlownessRange));
      if (!manifest_->slow_.emplace(rank, *slowness).second)
        fail(fmt::format("{}: rank {} is in `slow` twice", of, rank));
    }
  }

  void take_ranks(const ClassManifest::Class& c, uint32_t number, const std::string& of) {
    for (uint32_t r = 0; r < manifest_->ranks_; ++r) {
      bool in = true;
      for (uint32_t a = 0; a < c.fixed.size(); ++a)
        in = in && (c.fixed[a] == ClassManifest::kAny || manifest_->coordinate(r, a) == c.fixed[a]);
      if (!in) continue;
      if (manifest_->class_of_[r] != ClassManifest::kAny)
        fail(fmt::format("{}: rank {} is in classes[{}], too", of, r, manifest_->class_of_[r]));
      manifest_->class_of_[r] = number;
    }
  }

  const std::shared_ptr<ClassManifest> manifest_;
  std::vector<std::set<std::string>> keys_;  ///< of the values that are open while the file is parsed
};

std::shared_ptr<const ClassManifest> ClassManifest::load(const std::string& path) {
  return ManifestReader(path).read();
}

std::string ClassManifest::find(const std::string& prefix) {
  const std::string suffix = kSuffix;
  const auto ends = [&] {
    return prefix.size() > suffix.size() &&
           prefix.compare(prefix.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
  if (ends()) return prefix;
  std::error_code error;
  return std::filesystem::is_regular_file(prefix + suffix, error) ? prefix + suffix : std::string();
}

std::string ClassManifest::groups_text() const {
  std::string text = "{";
  std::vector<std::vector<uint32_t>> groups;
  for (const Kind& kind : kinds_) {
    uint64_t count = 1;
    for (const uint32_t a : kind.counted) count *= axes_[a].size;
    groups.assign(count, {});
    for (uint32_t r = 0; r < ranks_; ++r) groups[group(kind, r) - kind.first].push_back(r);
    for (uint64_t g = 0; g < count; ++g)
      text += fmt::format("{}\"{}\":[{}]", text.size() > 1 ? ",\n" : "", kind.first + g,
                          fmt::join(groups[g], ","));
  }
  return text + "}";
}

std::shared_ptr<const RankView> ClassManifest::view(std::shared_ptr<const ClassManifest> manifest,
                                                    uint32_t of_class) {
  const uint32_t first = manifest->classes_[of_class].first;
  return std::make_shared<ClassView>(std::move(manifest), first);
}

uint32_t ClassManifest::moved(uint32_t peer, uint32_t first, uint32_t rank) const {
  uint32_t result = 0;
  for (uint32_t a = 0; a < axes_.size(); ++a) {
    const uint32_t n = axes_[a].size;
    const uint64_t c = uint64_t{coordinate(peer, a)} + n - coordinate(first, a) + coordinate(rank, a);
    result += static_cast<uint32_t>(c % n) * axes_[a].stride;
  }
  return result;
}

const ClassManifest::Kind* ClassManifest::kind(const std::string& name) const {
  const auto at = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) { return k.name == name; });
  return at == kinds_.end() ? nullptr : &*at;
}

const ClassManifest::Kind& ClassManifest::kind_of(uint64_t number) const {
  for (const Kind& kind : kinds_) {
    uint64_t count = 1;
    for (const uint32_t a : kind.counted) count *= axes_[a].size;
    if (number >= kind.first && number - kind.first < count) return kind;
  }
  throw std::out_of_range(fmt::format("{}: no kind has a group {}", path_, number));
}

uint64_t ClassManifest::group(const Kind& kind, uint32_t rank) const {
  uint64_t number = 0;
  uint64_t factor = 1;
  for (const uint32_t a : kind.counted) {
    number += coordinate(rank, a) * factor;
    factor *= axes_[a].size;
  }
  return kind.first + number;
}

}  // namespace weft::trace
