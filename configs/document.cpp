// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <sstream>

#include <algorithm>

#include "configs/types.h"

namespace weft {
namespace {

constexpr int kMaxDepth = 16;
constexpr int kMaxNodes = 100000;

[[noreturn]] void fail(const std::string& origin, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", origin, what));
}

/// Copies yaml-cpp's graph (aliases may share or even contain themselves) into a tree.
class Importer {
 public:
  Importer(std::string file, bool with_lines) : file_(std::move(file)), with_lines_(with_lines) {}

  DocumentNode import(const YAML::Node& node, const std::string& parent_origin, int depth) {
    DocumentNode out;
    out.origin = origin_of(node, parent_origin);
    if (depth > kMaxDepth) fail(out.origin, fmt::format("nested more than {} levels deep", kMaxDepth));
    if (++nodes_ > kMaxNodes)
      fail(out.origin, fmt::format("the file has more than {} values (aliases?)", kMaxNodes));
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        out.kind = DocumentNode::Kind::scalar;
        out.scalar = node.Scalar();
        break;
      case YAML::NodeType::Sequence:
        out.kind = DocumentNode::Kind::sequence;
        for (const auto& item : node) out.items.push_back(import(item, out.origin, depth + 1));
        break;
      case YAML::NodeType::Map:
        out.kind = DocumentNode::Kind::map;
        for (const auto& entry : node) {
          const std::string key_origin = origin_of(entry.first, out.origin);
          if (!entry.first.IsScalar()) fail(key_origin, "a key must be a plain word");
          out.entries.push_back(
              {entry.first.Scalar(), key_origin, import(entry.second, key_origin, depth + 1)});
        }
        break;
      default:
        break;
    }
    return out;
  }

 private:
  std::string origin_of(const YAML::Node& node, const std::string& parent) const {
    if (!with_lines_ || node.Mark().is_null()) return parent;
    return fmt::format("{}:{}", file_, node.Mark().line + 1);
  }

  std::string file_;
  bool with_lines_;
  int nodes_ = 0;
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

/// Documents in the text, counted up to kMostDocuments: from some malformed texts yaml-cpp makes documents
/// without end (its own LoadAll() fills the memory with them).
uint32_t count_documents(const std::string& text) {
  class Ignore final : public YAML::EventHandler {
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  };
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Ignore ignore;
  uint32_t count = 0;
  while (count < kMostDocuments && parser.HandleNextDocument(ignore)) ++count;
  return count;
}

}  // namespace

DocumentNode read_document(const std::string& text, const std::string& file) {
  try {
    const uint32_t documents = count_documents(text);
    if (documents == 0) {
      DocumentNode empty;
      empty.origin = file + ":1";
      return empty;
    }
    if (documents > 1)
      fail(file,
           fmt::format("holds {}{} YAML documents; a configuration is one: remove what follows the `---`",
                       documents, documents == kMostDocuments ? " or more" : ""));
    return Importer(file, true).import(YAML::Load(text), file + ":1", 0);
  } catch (const YAML::Exception& error) {
    fail(
        error.mark.is_null() ? file : fmt::format("{}:{}", file, error.mark.line + 1),
        fmt::format(
            "not valid YAML: {} (column {}); mend the syntax, for example the indentation or a missing quote",
            error.msg, error.mark.column + 1));
  }
}

DocumentNode read_value(const std::string& text, const std::string& origin) {
  try {
    return Importer("", false).import(YAML::Load(text), origin, 0);
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
