// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/identity.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "configs/stop.h"

namespace weft::sweep {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBegin = 14695981039346656037ull;
constexpr uint64_t kMostHashed = uint64_t{64} << 20;

uint64_t fnv(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

/// The note NT_GNU_BUILD_ID of the program, which is the first object.
int find_build_id(dl_phdr_info* info, size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    const auto padded = [](size_t n) { return (n + 3) & ~size_t{3}; };
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const text = name + padded(note.n_namesz);
      at = text + padded(note.n_descsz);
      if (at > end) break;
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(name, "GNU", 4) != 0) continue;
      for (size_t b = 0; b < std::min<size_t>(note.n_descsz, 8); ++b)
        *static_cast<std::string*>(out) += fmt::format("{:02x}", static_cast<unsigned char>(text[b]));
      return 1;
    }
  }
  return 1;
}

struct FileState {
  uint64_t bytes;
  std::string changed;
};

std::optional<FileState> state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileState{static_cast<uint64_t>(status.st_size),
                   fmt::format("{}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec)};
}

std::string file_hash(const std::string& path) {
  uint64_t hash = kBegin;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "unreadable";
  std::array<char, 65536> block{};
  for (size_t n; (n = std::fread(block.data(), 1, block.size(), file)) > 0;)
    hash = fnv({block.data(), n}, hash);
  std::fclose(file);
  return fmt::format("{:016x}", hash);
}

/// In the same words wherever the program is started.
std::string full_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

std::string fingerprint(std::string_view text) {
  return fmt::format("{:016x}", fnv(text, kBegin));
}

std::string program_identity() {
  std::string id;
  dl_iterate_phdr(find_build_id, &id);
  return fmt::format("weft " WEFT_VERSION "{}{}", id.empty() ? "" : ", build ", id);
}

std::string points_identity(const Grid& grid) {
  std::string all;
  for (const Axis& axis : grid.axes())
    for (size_t i = 0; i < axis.names.size(); ++i)
      all += fmt::format("{}={}{}", axis.names[i], fmt::join(axis.values[i], std::string(1, '\0')), '\1');
  return fmt::format("{} points of `{}`, values {}", grid.points(), fmt::join(grid.names(), "`, `"),
                     fingerprint(all));
}

void FilesIdentity::add_file(const std::string& path) {
  const std::string name = "the file " + full_path(path);
  if (std::any_of(found_.begin(), found_.end(), [&](const auto& f) { return f.first == name; })) return;
  const std::optional<FileState> state = state_of(path);
  if (!state) return;
  found_.emplace(name, state->bytes <= kMostHashed
                           ? fmt::format("{} B, contents {}", state->bytes, file_hash(path))
                           : fmt::format("{} B, changed {}", state->bytes, state->changed));
}

void FilesIdentity::add_traces(const std::string& prefix) {
  if (prefix.empty()) return;
  const fs::path path(full_path(prefix));
  const std::string name = "the traces " + path.string() + ".*.et";
  if (std::any_of(found_.begin(), found_.end(), [&](const auto& f) { return f.first == name; })) return;
  const std::string begin = path.filename().string() + ".";
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(path.parent_path(), error), end; !error && it != end; it.increment(error)) {
    check_stop();
    const std::string file = it->path().filename().string();
    if (file.size() <= begin.size() + 3 || file.compare(0, begin.size(), begin) != 0 ||
        file.compare(file.size() - 3, 3, ".et") != 0 ||
        !all_digits(std::string_view(file).substr(begin.size(), file.size() - begin.size() - 3)))
      continue;
    if (const auto state = state_of(it->path().string()))
      files[file] = fmt::format("{} {}", state->bytes, state->changed);
  }
  if (files.empty()) return;
  std::string all;
  for (const auto& [file, state] : files) all += file + " " + state + "\n";
  found_.emplace(name, fmt::format("{} files, names, sizes and times {}", files.size(), fingerprint(all)));
}

void FilesIdentity::add_if_files(const std::string& argument) {
  if (argument.empty() || argument.size() > 4096) return;
  if (state_of(argument)) add_file(argument);
  if (state_of(argument + ".0.et")) add_traces(argument);
}

void FilesIdentity::append_to(Identity& identity) const {
  identity.insert(identity.end(), found_.begin(), found_.end());
}

std::vector<std::string> differences(const Identity& then, const Identity& now) {
  const auto find = [](const Identity& in, const std::string& name) -> const std::string* {
    const auto it = std::find_if(in.begin(), in.end(), [&](const auto& part) { return part.first == name; });
    return it == in.end() ? nullptr : &it->second;
  };
  std::vector<std::string> lines;
  for (const auto& [name, text] : now) {
    const std::string* const old = find(then, name);
    if (old == nullptr)
      lines.push_back(fmt::format("{} was not part of it", name));
    else if (*old != text)
      lines.push_back(fmt::format("{} has changed: was {}; is {}", name, *old, text));
  }
  for (const auto& [name, text] : then)
    if (find(now, name) == nullptr) lines.push_back(fmt::format("{} was part of it and is not now", name));
  return lines;
}

}  // namespace weft::sweep
