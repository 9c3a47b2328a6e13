// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A YAML document as a plain tree in which every node knows where it was written: the loader's first stage.
// It keeps duplicate keys (the loader reports them), has no aliases and merge keys (`<<`) left and is bounded
// in depth and size.

#ifndef WEFT_CONFIGS_DOCUMENT_H
#define WEFT_CONFIGS_DOCUMENT_H

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct DocumentEntry;

struct DocumentNode {
  enum class Kind { null, scalar, map, sequence };

  Kind kind = Kind::null;
  std::string scalar;
  std::string origin;                  ///< "file:line", or what a program gave, e.g. "--set npu.peak=3"
  std::vector<DocumentEntry> entries;  ///< of a map, as written
  std::vector<DocumentNode> items;     ///< of a sequence

  /// The first entry of that key, or nullptr. Only for maps.
  DocumentNode* find(std::string_view key);
  const DocumentNode* find(std::string_view key) const;
};

struct DocumentEntry {
  std::string key;
  std::string origin;
  DocumentNode value;
};

/// Parses one YAML document. `<<: *name` and `<<: [*first, *second]` put the keys of other mappings into a
/// mapping: its own keys win, then the first of the list that has the key; what is merged keeps the line
/// where it was written. Errors: UserError(usage) `file:line: ...` for bad syntax, several documents, keys
/// that are no scalars, an alias inside its own anchor, a `<<` of anything but mappings, and documents
/// that are nested too deep or too large after expansion.
DocumentNode read_document(const std::string& text, const std::string& file);

/// Parses one value; every node of it gets `origin`.
DocumentNode read_value(const std::string& text, const std::string& origin);

/// "a mapping", "a list", "nothing" or the scalar in quotes: for messages.
std::string describe_node(const DocumentNode& node);

}  // namespace weft

#endif
