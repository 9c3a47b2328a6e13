// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/keys/key_table.h"

#include <algorithm>

namespace weft {

KeySpec& KeyTable::add(const std::string& section, const KeyRow& row) {
  KeySpec key;
  key.path = section.empty() ? row.name : section + "." + row.name;
  if (std::any_of(keys_.begin(), keys_.end(), [&](const KeySpec& other) { return other.path == key.path; }))
    throw std::logic_error("two rows declare the key " + key.path);
  key.type = row.type;
  key.fallback = row.fallback.text;
  key.required = row.fallback.required;
  key.optional = row.fallback.optional;
  key.min = row.allowed.min.str();
  key.max = row.allowed.max.str();
  key.zero_word = row.allowed.zero_word;
  for (std::size_t i = 0; i < row.allowed.choice_count; ++i)
    key.choices.push_back({row.allowed.choices[i].name, true, row.allowed.choices[i].description});
  if (row.allowed.more_choices != nullptr) key.choices = row.allowed.more_choices();
  key.description = row.description;
  key.field = row.field.access;
  keys_.push_back(std::move(key));
  return keys_.back();
}

}  // namespace weft
