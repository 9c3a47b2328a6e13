// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A mapping of a configuration whose keys are rows of the table of keys, read from its document. Private to
// the reader of graphs.

#ifndef WEFT_CONFIGS_KEY_SECTION_H
#define WEFT_CONFIGS_KEY_SECTION_H

#include <map>
#include <string>
#include <vector>

#include "configs/document.h"
#include "configs/graph_reader.h"
#include "configs/keys.h"

namespace weft {

/// The keys of one mapping, checked against the rows of the table with `prefix`. Absent keys have their
/// defaults. Errors go to `report`, under the name `shown`.
class KeySection {
 public:
  KeySection(const DocumentNode& map, std::string prefix, std::string shown, const ReportError& report);

  bool good() const { return good_; }
  void error(const std::string& origin, const std::string& key, const std::string& what);

  template <typename T>
  T value(const char* name) const {
    return std::get<T>(values_.at(name));
  }
  bool has_value(const char* name) const { return values_.count(name) != 0; }
  /// Sets the fields of an object that the section's keys name.
  template <typename Object>
  void fill(Object& object) const {
    for (const auto& [name, value] : values_)
      if (const KeySpec& key = *find_key(prefix_ + name); key.is_of<Object>()) key.set(object, value);
  }
  /// An entry that is no scalar of the table: nodes, switches, a list; or nullptr.
  const DocumentEntry* entry(const char* name) const;

 private:
  void read_entry(const DocumentEntry& entry);
  void add_defaults();
  /// The name of a key directly in this mapping; "" of any other.
  std::string own_name(const KeySpec& key) const;
  std::vector<std::string> names() const;
  std::string children() const;

  std::string prefix_;
  std::string shown_;
  const ReportError& report_;
  std::string origin_;
  bool good_ = true;
  std::map<std::string, const DocumentEntry*> seen_;
  std::map<std::string, const DocumentEntry*> nodes_;
  std::map<std::string, Value> values_;
  std::vector<std::string> misspelt_;  ///< what was probably meant
};

}  // namespace weft

#endif
