// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/shims/shims.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "configs/types.h"

namespace weft::emulation {
namespace {

namespace fs = std::filesystem;

/// A library that programs are linked with, and the shim that stands before it.
struct Kind {
  const char* name;
  const char* library;  ///< its name begins so
  const char* shim;     ///< below the folder of libraries
  const char* how;      ///< what brings it, for messages
};
constexpr Kind kKinds[] = {
    {"ompi", "libmpi.so", "libweft_mpi_ompi.so", "build Weft where Open MPI is (Debian: libopenmpi-dev)"},
    {"mpich", "libmpich.so", "libweft_mpi_mpich.so", "build Weft where MPICH is (Debian: libmpich-dev)"},
    {"nccl", "libnccl.so", "weft_nccl/libnccl.so.2", "build and install Weft with its shims"},
    {"torch", "libtorch_python.so", "libweft_comm.so.1", "build and install Weft"},
};

/// The program's file, by PATH as a shell finds it; empty: there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  const std::string list = path != nullptr ? path : "";
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(':', at), list.size());
    const fs::path file = fs::path(list.substr(at, end - at)) / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file.string();
    at = end + 1;
  }
  return {};
}

/// Where the shim is: beside the program `weft`, as it is built or installed.
std::string find_shim(const Kind& kind) {
  std::error_code ignored;
  const fs::path bin = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> folders;
  if (const char* const own = std::getenv("WEFT_SHIMS")) folders.emplace_back(own);
  folders.push_back(bin.parent_path() / "lib");
  for (const auto& entry : fs::directory_iterator(bin.parent_path() / "lib", ignored))
    if (entry.is_directory(ignored)) folders.push_back(entry.path());
  for (const fs::path& folder : folders)
    if (fs::exists(folder / kind.shim, ignored)) return (folder / kind.shim).string();
  throw UserError(ExitCode::usage,
                  fmt::format("--shim {}: there is no {} in {}; {}, or name its folder by the "
                              "environment variable WEFT_SHIMS",
                              kind.name, kind.shim, (bin.parent_path() / "lib").string(), kind.how));
}

const Kind* kind_of(const std::string& name, const std::vector<std::string>& command) {
  if (name == "none") return nullptr;
  for (const Kind& kind : kKinds)
    if (name == kind.name) return &kind;
  if (name != "auto")
    throw UserError(ExitCode::usage,
                    fmt::format("--shim '{}' is not one of auto, ompi, mpich, nccl, torch and none", name));
  const std::vector<std::string> needed = needed_libraries(find_program(command.empty() ? "" : command[0]));
  for (const Kind& kind : kKinds)
    for (const std::string& library : needed)
      if (library.rfind(kind.library, 0) == 0) return &kind;
  return nullptr;
}

std::string before(const std::string& first, const char* variable) {
  const char* const old = std::getenv(variable);
  return old == nullptr || *old == 0 ? first : first + ":" + old;
}

template <typename T>
bool read_at(std::ifstream& file, uint64_t offset, T& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return file.good();
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  if (!file || !read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  Elf64_Phdr dynamic{};
  std::vector<Elf64_Phdr> loads;
  for (uint32_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, head.e_phoff + uint64_t{i} * head.e_phentsize, segment)) return {};
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
    if (segment.p_type == PT_LOAD) loads.push_back(segment);
  }
  uint64_t strings = 0;
  std::vector<uint64_t> names;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    if (!read_at(file, dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
  }
  // An address in memory; the file has it where its segment lies.
  const auto load = std::find_if(loads.begin(), loads.end(), [&](const Elf64_Phdr& s) {
    return strings >= s.p_vaddr && strings - s.p_vaddr < s.p_filesz;
  });
  std::vector<std::string> libraries;
  for (const uint64_t name : names) {
    if (load == loads.end()) break;
    file.clear();
    file.seekg(static_cast<std::streamoff>(strings - load->p_vaddr + load->p_offset + name));
    std::string text;
    if (std::getline(file, text, '\0')) libraries.push_back(std::move(text));
  }
  return libraries;
}

std::vector<std::pair<std::string, std::string>> shim_variables(const std::string& name,
                                                                const std::vector<std::string>& command,
                                                                bool children) {
  std::vector<std::pair<std::string, std::string>> variables;
  const Kind* const kind = kind_of(name, command);
  if (kind == nullptr) return variables;
  const std::string shim = find_shim(*kind);
  if (std::string(kind->name) == "nccl") {
    variables.emplace_back("LD_LIBRARY_PATH",
                           before(fs::path(shim).parent_path().string(), "LD_LIBRARY_PATH"));
    variables.emplace_back("WEFT_NCCL_HOST", "1");
    return variables;
  }
  if (std::string(kind->name) == "torch") {  // python -m weft.run loads it
    variables.emplace_back("WEFT_COMM_LIBRARY", shim);
    return variables;
  }
  variables.emplace_back("LD_PRELOAD", before(shim, "LD_PRELOAD"));
  if (children) variables.emplace_back("WEFT_PRELOAD_CHILDREN", "1");
  return variables;
}

}  // namespace weft::emulation
