// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/equal_files.h"

#include <algorithm>
#include <cstring>

#include "configs/input_file.h"

namespace weft::trace {
namespace {

constexpr size_t kPiece = 256u << 10;

/// Of the file's bytes, eight at a time. Equal hashes are only a hint: add() compares the bytes.
uint64_t hash_of(const InputFile& file) {
  std::vector<uint8_t> piece(kPiece);
  uint64_t hash = 0x9e3779b97f4a7c15ull;
  uint64_t at = 0;
  while (const size_t size = file.read(at, piece.data(), piece.size())) {
    std::fill(piece.begin() + static_cast<std::ptrdiff_t>(size), piece.end(), uint8_t{0});
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, piece.data() + i, sizeof word);  // the piece is a whole number of words
      hash = (hash ^ word) * 0xff51afd7ed558ccdull;
      hash ^= hash >> 32;
    }
    at += size;
  }
  return hash;
}

bool same_bytes(const InputFile& a, const InputFile& b) {
  std::vector<uint8_t> of_a(kPiece);
  std::vector<uint8_t> of_b(kPiece);
  for (uint64_t at = 0;;) {
    const size_t size = a.read(at, of_a.data(), kPiece);
    if (b.read(at, of_b.data(), kPiece) != size) return false;
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
