// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What is made by name: models of modules, policies. A second entry of a name is an error; an unknown name is
// an error that lists the known ones.

#ifndef WEFT_CONFIGS_NAMED_REGISTRY_H
#define WEFT_CONFIGS_NAMED_REGISTRY_H

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "configs/types.h"

namespace weft {

/// `Make` is a function, or a pointer to an object that lives forever.
template <typename Make>
class NamedRegistry {
 public:
  struct Entry {
    std::string name;
    std::string description;
    std::string source;  ///< "weft", or the file of a plugin
    Make make;
    bool rtl = false;  ///< a plugin has registered it as RTL: `rtl:name`
  };

  /// `what`: the noun of messages, "switch model".
  explicit NamedRegistry(std::string what) : what_(std::move(what)) {}

  /// Errors: UserError(usage) when the name is taken.
  void add(Entry entry) {
    if (const Entry* other = find(entry.name))
      throw UserError(ExitCode::usage, fmt::format("there are two of the {} '{}': one of {}, one of {}",
                                                   what_, entry.name, other->source, entry.source));
    entries_.push_back(std::move(entry));
  }
  /// nullptr: there is none.
  const Entry* find(const std::string& name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return &entry;
    return nullptr;
  }
  /// Errors: UserError(usage) that lists the known names.
  const Entry& at(const std::string& name) const {
    if (const Entry* entry = find(name)) return *entry;
    const std::string known =
        entries_.empty() ? "none is known" : fmt::format("known: {}", fmt::join(names(), ", "));
    throw UserError(ExitCode::usage, fmt::format("there is no {} '{}'; {}", what_, name, known));
  }
  /// In the order in which they were added; references stay valid.
  const std::deque<Entry>& entries() const { return entries_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.name);
    return names;
  }
  const std::string& what() const { return what_; }

 private:
  std::string what_;
  std::deque<Entry> entries_;
};

}  // namespace weft

#endif
