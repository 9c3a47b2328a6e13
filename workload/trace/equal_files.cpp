// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/equal_files.h"

#include <algorithm>
#include <cstring>

#include "configs/input_file.h"

namespace weft::trace {
namespace {

/// A whole number of words, no longer than the file needs: there are many small files.
std::vector<uint8_t> piece_of(const InputFile& file) {
  constexpr uint64_t kMost = 256u << 10;
  constexpr uint64_t kWord = sizeof(uint64_t);
  return std::vector<uint8_t>(std::min(kMost, (file.bytes() / kWord + 1) * kWord));
}

/// Of the file's bytes, eight at a time. Equal hashes are only a hint: add() compares the bytes.
uint64_t hash_of(const InputFile& file) {
  std::vector<uint8_t> piece = piece_of(file);
  uint64_t hash = 0x9e3779b97f4a7c15ull;
  uint64_t at = 0;
  while (const size_t size = file.read(at, piece.data(), piece.size())) {
    std::memset(piece.data() + size, 0, -size % sizeof(uint64_t));
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, piece.data() + i, sizeof word);
      hash = (hash ^ word) * 0xff51afd7ed558ccdull;
      hash ^= hash >> 32;
    }
    at += size;
  }
  return hash;
}

bool same_bytes(const InputFile& a, const InputFile& b) {
  std::vector<uint8_t> of_a = piece_of(a);
  std::vector<uint8_t> of_b(of_a.size());
  for (uint64_t at = 0;;) {
    const size_t size = a.read(at, of_a.data(), of_a.size());
    if (b.read(at, of_b.data(), of_b.size()) != size) return false;
    if (size == 0) return true;
    if (std::memcmp(of_a.data(), of_b.data(), size) != 0) return false;
    at += size;
  }
}

}  // namespace

std::optional<uint32_t> EqualFiles::add(const std::string& path) {
  const InputFile file(path, kTraceInput);
  const uint32_t number = count_++;
  const auto [at, fresh] = first_of_size_.try_emplace(file.bytes(), Content{number, path});
  if (fresh) return std::nullopt;
  Content& first = at->second;
  if (!first.hashed) {
    by_hash_[hash_of(InputFile(first.path, kTraceInput))].push_back(first);
    first.hashed = true;
  }
  std::vector<Content>& contents = by_hash_[hash_of(file)];
  for (const Content& content : contents) {
    if (same_bytes(file, InputFile(content.path, kTraceInput))) return content.number;
  }
  contents.push_back({number, path});
  return std::nullopt;
}

}  // namespace weft::trace
