// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How the table of keys.h is written: one constant array of rows for each section, one row for each key.
//
//     constexpr KeyRow kNpuKeys[] = {
//         {"cpu_slots", Type::integer, "1", from(1, 4096), in_npu<&NpuConfig::cpu_slots>,
//          "CPU operations that an NPU's host runs at the same time."},
//
// A row has six columns: name, type, default, allowed values, field, description. A type that does not fit
// the field does not compile. Private to this folder and keys.cpp.

#ifndef WEFT_CONFIGS_KEYS_KEY_TABLE_H
#define WEFT_CONFIGS_KEYS_KEY_TABLE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "configs/keys.h"
#include "configs/keys/key_field.h"

namespace weft {

using Type = ValueType;

/// The third column: the default as it would be written, kRequired or kOptional.
struct Default {
  constexpr Default(const char* written) : text(written) {}
  constexpr Default(bool is_required, bool is_optional) : required(is_required), optional(is_optional) {}
  const char* text = "";
  bool required = false;
  bool optional = false;
};
inline constexpr Default kRequired{true, false};
inline constexpr Default kOptional{false, true};  ///< no default: absent is a state of its own

/// A bound of a range: a whole number, or a value as it would be written.
struct Limit {
  constexpr Limit(const char* written) : text(written) {}
  template <typename Number, typename = std::enable_if_t<std::is_integral_v<Number>>>
  constexpr Limit(Number n) : number(static_cast<uint64_t>(n)) {}
  std::string str() const { return text != nullptr ? text : std::to_string(number); }
  const char* text = nullptr;
  uint64_t number = 0;
};

struct ChoiceRow {
  const char* name = "";
  const char* description = "";
};

/// The fourth column: kAny (whatever the type can hold), from(), at_least(), up_to() or one_of().
struct Allowed {
  static constexpr std::size_t kMostChoices = 8;

  /// `word` stands for the value 0, which may be outside the range: "none", "unlimited", "auto".
  constexpr Allowed or_word(const char* word) const {
    Allowed with_word = *this;
    with_word.zero_word = word;
    return with_word;
  }

  Limit min{""};
  Limit max{""};
  const char* zero_word = "";
  ChoiceRow choices[kMostChoices];
  std::size_t choice_count = 0;
  std::vector<Choice> (*more_choices)() = nullptr;  ///< those that another table lists
};
inline constexpr Allowed kAny{};
constexpr Allowed from(Limit min, Limit max) {
  Allowed allowed;
  allowed.min = min;
  allowed.max = max;
  return allowed;
}
constexpr Allowed at_least(Limit min) {
  return from(min, Limit(""));
}
constexpr Allowed up_to(Limit max) {
  return from(Limit(""), max);
}
constexpr Allowed one_of(std::initializer_list<ChoiceRow> choices) {
  Allowed allowed;
  if (choices.size() > Allowed::kMostChoices) throw std::logic_error("raise kMostChoices");
  for (const ChoiceRow& choice : choices) allowed.choices[allowed.choice_count++] = choice;
  return allowed;
}
constexpr Allowed one_of(std::vector<Choice> (*choices)()) {
  Allowed allowed;
  allowed.more_choices = choices;
  return allowed;
}

inline constexpr const char* kMinBandwidth = "1 MB/s";
inline constexpr const char* kMaxBandwidth = "1000 PB/s";
inline constexpr Allowed kAnyBandwidth = from(kMinBandwidth, kMaxBandwidth);

struct KeyRow {
  constexpr KeyRow(const char* name_, Type type_, Default fallback_, Allowed allowed_, Field field_,
                   const char* description_)
      : name(name_),
        type(type_),
        fallback(fallback_),
        allowed(allowed_),
        field(field_),
        description(description_) {
    if (!fits(type, field.kind)) throw std::logic_error("the key's type does not fit its field");
  }
  const char* name;
  Type type;
  Default fallback;
  Allowed allowed;
  Field field;
  const char* description;
};

class KeyTable {
 public:
  /// Adds the keys of a section; "" holds the keys of the top level.
  template <std::size_t N>
  void add(const std::string& section, const KeyRow (&rows)[N]) {
    for (const KeyRow& row : rows) add(section, row);
  }
  /// One key; the reference holds until the next call.
  KeySpec& add(const std::string& section, const KeyRow& row);

  std::vector<KeySpec> take() { return std::move(keys_); }

 private:
  std::vector<KeySpec> keys_;
};

void add_topology_keys(KeyTable& table);
void add_npu_keys(KeyTable& table);
void add_memory_keys(KeyTable& table);
void add_pool_keys(KeyTable& table);
void add_tier_keys(KeyTable& table);
void add_nmu_keys(KeyTable& table);
void add_packet_keys(KeyTable& table);
void add_collectives_keys(KeyTable& table);
void add_library_keys(KeyTable& table);
void add_jobs_keys(KeyTable& table);
void add_run_keys(KeyTable& table);
void add_environment_keys(KeyTable& table);
void add_expect_keys(KeyTable& table);

}  // namespace weft

#endif
