// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/machine_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string_view>

namespace weft::cli {
namespace {

/// The number at the beginning of a file; empty: there is none ("max"), or no file.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (!(file >> value)) return {};
  return value;
}

/// The number behind a word in a file of lines `word number`.
std::optional<uint64_t> number_of(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  std::string name;
  while (file >> name) {
    uint64_t value = 0;
    if (!(file >> value)) return {};
    if (name == word) return value;
    std::string rest;
    std::getline(file, rest);
  }
  return {};
}

/// Where one version of control groups keeps its numbers.
struct Layout {
  const char* folder;
  const char* limit;
  const char* usage;
  const char* cached;  ///< of memory.stat
};

constexpr Layout kSecond = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
constexpr Layout kFirst = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                           "total_inactive_file"};

void take_group(const std::string& folder, const Layout& layout, AvailableMemory& out) {
  const auto limit = number_in(folder + "/" + layout.limit);
  const auto usage = number_in(folder + "/" + layout.usage);
  if (!limit || !usage) return;
  const uint64_t cached = number_of(folder + "/memory.stat", layout.cached).value_or(0);
  const uint64_t held = *usage > cached ? *usage - cached : 0;
  const uint64_t left = *limit > held ? *limit - held : 0;
  if (left < out.bytes) out = {left, "left of the memory limit of this process's control group"};
}

/// The group and those above it; inside a container the path may be the one outside of it.
void take_groups(const std::string& root, const Layout& layout, std::string path, AvailableMemory& out) {
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    take_group(root + layout.folder + path, layout, out);
    if (path.empty()) return;
    path.erase(path.rfind('/'));
  }
}

/// Pages in a field of /proc/self/statm, in bytes.
std::optional<uint64_t> own_pages(const std::string& root, int field) {
  std::ifstream file(root + "/proc/self/statm");
  uint64_t pages = 0;
  for (int i = 0; i <= field; ++i)
    if (!(file >> pages)) return {};
  const long size = sysconf(_SC_PAGESIZE);
  return size <= 0 ? std::nullopt : std::optional<uint64_t>(pages * static_cast<uint64_t>(size));
}

void take_address_space(const std::string& root, AvailableMemory& out) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const uint64_t held = own_pages(root, 0).value_or(0);
  const uint64_t left = limit.rlim_cur > held ? limit.rlim_cur - held : 0;
  if (left < out.bytes) out = {left, "left of the limit of this process's address space (ulimit -v)"};
}

}  // namespace

AvailableMemory available_memory(const std::string& root) {
  AvailableMemory out;
  if (const auto kib = number_of(root + "/proc/meminfo", "MemAvailable:"))
    out = {*kib * 1024, "available on this machine"};
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (controllers == ",,") {
      take_groups(root, kSecond, path, out);
    } else if (controllers.find(",memory,") != std::string::npos) {
      take_groups(root, kFirst, path, out);
    }
  }
  take_address_space(root, out);
  return out;
}

uint64_t resident_memory() {
  return own_pages("", 1).value_or(0);
}

}  // namespace weft::cli
