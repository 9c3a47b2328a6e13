// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "configs/types.h"

namespace weft {
namespace {

constexpr size_t kMaxDepth = 16;
constexpr int kMaxNodes = 100000;

[[noreturn]] void fail(const std::string& origin, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", origin, what));
}

/// Builds the tree from the parser's events: the parser's own graph would be larger, may contain itself, and
/// has lost which `<<` is a merge key.
class Builder final : public YAML::EventHandler {
 public:
  /// `file`: nothing to give every node `origin`.
  Builder(std::optional<std::string> file, std::string origin)
      : file_(std::move(file)), outermost_(std::move(origin)) {}

  DocumentNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    DocumentNode node;
    node.origin = at(mark);
    begin(node.origin);
    finish(std::move(node), anchor, 1, false);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    DocumentNode node;
    node.kind = DocumentNode::Kind::scalar;
    node.scalar = value;
    node.origin = at(mark);
    begin(node.origin);
    finish(std::move(node), anchor, 1,
           value == kMergeKey && (tag == "?" || tag == kMergeTag));  // "?": without quotes
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(DocumentNode::Kind::sequence, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(DocumentNode::Kind::map, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchored_.find(anchor);
    if (it == anchored_.end())
      fail(at(mark), "an alias stands inside the value that its anchor names; write that value out");
    const Anchored& source = it->second;
    if (levels_.size() + source.depth > kMaxDepth + 1) too_deep(at(mark));
    count(source.nodes, at(mark));
    finish(DocumentNode(source.node), YAML::NullAnchor, source.depth, false);
  }

 private:
  static constexpr const char* kMergeKey = "<<";
  static constexpr const char* kMergeTag = "tag:yaml.org,2002:merge";

  struct Anchored {
    DocumentNode node;
    size_t depth = 1;  ///< levels of it
    int nodes = 1;
  };
  /// A map or list whose end has not come yet.
  struct Level {
    DocumentNode node;
    YAML::anchor_t anchor;
    int nodes_before;
    size_t depth = 1;
    bool has_key = false;  ///< of a map: the next value is that of the last entry
    bool merges = false;   ///< .. and that is a merge key
    std::vector<DocumentNode> merged;
    std::string merge_origin;
  };

  std::string at(const YAML::Mark& mark) const {
    return file_ ? fmt::format("{}:{}", *file_, mark.line + 1) : outermost_;
  }
  [[noreturn]] static void too_deep(const std::string& origin) {
    fail(origin, fmt::format("nested more than {} levels deep", kMaxDepth));
  }
  void count(int nodes, const std::string& origin) {
    if (nodes > kMaxNodes - nodes_)
      fail(origin, fmt::format("the file has more than {} values (aliases?)", kMaxNodes));
    nodes_ += nodes;
  }
  void begin(const std::string& origin) {
    if (levels_.size() > kMaxDepth) too_deep(origin);
    count(1, origin);
  }
  void open(DocumentNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    Level level;
    level.node.kind = kind;
    level.node.origin = at(mark);
    level.anchor = anchor;
    level.nodes_before = nodes_;
    begin(level.node.origin);
    levels_.push_back(std::move(level));
  }
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    if (!level.merge_origin.empty()) merge(level);
    keep(level.node, level.anchor, level.depth, nodes_ - level.nodes_before);
    put(std::move(level.node), level.depth, false);
  }
  /// A value that is complete.
  void finish(DocumentNode node, YAML::anchor_t anchor, size_t depth, bool merge_key) {
    keep(node, anchor, depth, 1);
    put(std::move(node), depth, merge_key);
  }
  void keep(const DocumentNode& node, YAML::anchor_t anchor, size_t depth, int nodes) {
    if (anchor == YAML::NullAnchor) return;
    kept_ += nodes;  // an anchor inside an anchor inside ..: each is a copy
    if (kept_ > kMaxNodes) fail(node.origin, fmt::format("more than {} values have anchors", kMaxNodes));
    anchored_[anchor] = {node, depth, nodes};
  }
  void put(DocumentNode node, size_t depth, bool merge_key) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    level.depth = std::max(level.depth, depth + 1);
    if (level.node.kind == DocumentNode::Kind::sequence) {
      level.node.items.push_back(std::move(node));
    } else if (!level.has_key) {
      if (node.kind != DocumentNode::Kind::scalar) fail(node.origin, "a key must be a plain word");
      level.has_key = true;
      level.merges = merge_key;
      if (merge_key) {
        if (!level.merge_origin.empty())
          fail(node.origin, fmt::format("a second `<<`, after the one at {}; write one with a list: "
                                        "`<<: [*first, *second]`",
                                        level.merge_origin));
        level.merge_origin = node.origin;
      } else {
        level.node.entries.push_back({node.scalar, node.origin, {}});
      }
    } else {
      level.has_key = false;
      if (level.merges)
        take_merged(level, std::move(node));
      else
        level.node.entries.back().value = std::move(node);
    }
  }

  /// The value of `<<`: a mapping or a list of mappings.
  static void take_merged(Level& level, DocumentNode node) {
    const auto check = [&](const DocumentNode& map, const char* holds) {
      if (map.kind != DocumentNode::Kind::map)
        fail(level.merge_origin, fmt::format("`<<` {} {}; it merges a mapping or a list of mappings, for "
                                             "example `<<: *name` or `<<: [*first, *second]`",
                                             holds, describe_node(map)));
    };
    if (node.kind == DocumentNode::Kind::sequence) {
      for (DocumentNode& item : node.items) {
        check(item, "holds");
        level.merged.push_back(std::move(item));
      }
    } else {
      check(node, "is");
      level.merged.push_back(std::move(node));
    }
  }
  /// What the map says itself wins, then the first of the merged maps that has the key. Merged maps have been
  /// merged themselves: they are complete.
  static void merge(Level& level) {
    std::set<std::string> known;
    for (const DocumentEntry& entry : level.node.entries) known.insert(entry.key);
    for (DocumentNode& map : level.merged) {
      std::vector<DocumentEntry> fresh;
      for (DocumentEntry& entry : map.entries)
        if (known.count(entry.key) == 0) fresh.push_back(std::move(entry));
      for (DocumentEntry& entry : fresh) {  // a key that the merged map has twice stays an error
        known.insert(entry.key);
        level.node.entries.push_back(std::move(entry));
      }
    }
  }

  std::optional<std::string> file_;
  std::string outermost_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  DocumentNode root_;
  int nodes_ = 0;
  int kept_ = 0;
};

}  // namespace

const DocumentNode* DocumentNode::find(std::string_view key) const {
  for (const DocumentEntry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

DocumentNode* DocumentNode::find(std::string_view key) {
  return const_cast<DocumentNode*>(static_cast<const DocumentNode*>(this)->find(key));
}

namespace {

constexpr uint32_t kMostDocuments = 100;

class Ignore final : public YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
};

/// The first document of a text, and how many there are, counted up to kMostDocuments: from some malformed
/// texts yaml-cpp makes documents without end.
uint32_t build(const std::string& text, Builder& builder) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  if (!parser.HandleNextDocument(builder)) return 0;
  Ignore ignore;
  uint32_t count = 1;
  while (count < kMostDocuments && parser.HandleNextDocument(ignore)) ++count;
  return count;
}

}  // namespace

DocumentNode read_document(const std::string& text, const std::string& file) {
  Builder builder(file, file);
  try {
    const uint32_t documents = build(text, builder);
    if (documents > 1)
      fail(file,
           fmt::format("holds {}{} YAML documents; a configuration is one: remove what follows the `---`",
                       documents, documents == kMostDocuments ? " or more" : ""));
    DocumentNode root = builder.take();
    if (root.origin.empty()) root.origin = file + ":1";
    return root;
  } catch (const YAML::Exception& error) {
    fail(
        error.mark.is_null() ? file : fmt::format("{}:{}", file, error.mark.line + 1),
        fmt::format(
            "not valid YAML: {} (column {}); mend the syntax, for example the indentation or a missing quote",
            error.msg, error.mark.column + 1));
  }
}

DocumentNode read_value(const std::string& text, const std::string& origin) {
  Builder builder(std::nullopt, origin);
  try {
    if (build(text, builder) > 1) fail(origin, fmt::format("'{}' holds several YAML documents", text));
    DocumentNode root = builder.take();
    root.origin = origin;
    return root;
  } catch (const YAML::Exception& error) {
    fail(origin, fmt::format("'{}' is not a valid YAML value: {}", text, error.msg));
  }
}

std::string describe_node(const DocumentNode& node) {
  switch (node.kind) {
    case DocumentNode::Kind::map:
      return "a mapping";
    case DocumentNode::Kind::sequence:
      return "a list";
    case DocumentNode::Kind::scalar:
      return "'" + (node.scalar.size() > 60 ? node.scalar.substr(0, 60) + "..." : node.scalar) + "'";
    default:
      return "nothing";
  }
}

}  // namespace weft
