// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How the table of keys.h is put together: one function, and one file, a section. Private to this folder and
// keys.cpp.

#ifndef WEFT_CONFIGS_KEYS_KEY_TABLE_H
#define WEFT_CONFIGS_KEYS_KEY_TABLE_H

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/keys.h"

namespace weft {

class KeyTable {
 public:
  /// A new row at the end. The reference holds until the next call.
  KeySpec& add(const std::string& path, ValueType type) {
    rows_.emplace_back();
    rows_.back().path = path;
    rows_.back().type = type;
    return rows_.back();
  }
  std::vector<KeySpec> take() { return std::move(rows_); }

 private:
  std::vector<KeySpec> rows_;
};

void add_topology_keys(KeyTable& table);
void add_npu_keys(KeyTable& table);
void add_memory_keys(KeyTable& table);
void add_nmu_keys(KeyTable& table);
void add_packet_keys(KeyTable& table);
void add_collectives_keys(KeyTable& table);
void add_jobs_keys(KeyTable& table);
void add_run_keys(KeyTable& table);

inline constexpr const char* kMinBandwidth = "1 MB/s";
inline constexpr const char* kMaxBandwidth = "1000 PB/s";

/// The enumerator of a choice: enumerators are numbered 0, 1, 2 .. and named by `name`.
template <typename Enum>
Enum named(const std::string& text, const char* (*name)(Enum), int count) {
  for (int i = 0; i < count; ++i)
    if (text == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
  throw UserError(ExitCode::usage, fmt::format("unknown name '{}'", text));
}

inline uint32_t as_u32(const Value& v) {
  return static_cast<uint32_t>(std::get<uint64_t>(v));
}

}  // namespace weft

#endif
