// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/gtkwave_view.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"

namespace weft::vcd {
namespace {

// GTKWave's trace flags, hexadecimal in a save file.
constexpr const char* kHeading = "@200";
constexpr const char* kBinary = "@28";
constexpr const char* kDecimal = "@24";
constexpr const char* kAnalogStep = "@8420";
constexpr const char* kTranslatedBinary = "@2028";
constexpr const char* kText = "@820";

void write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    throw WriteError(
        path, fmt::format("cannot be written ({}); check that its folder exists, is writable and has room",
                          errno != 0 ? std::strerror(errno) : "output error"));
  }
}

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

/// A translation file holds one line a value: the digits GTKWave displays, a blank, the name.
std::string translation(const EnumTable& table, unsigned width) {
  std::string text;
  for (size_t value = 0; value < table.size(); ++value) {
    for (unsigned bit = width; bit-- > 0;) text += (value >> bit & 1) != 0 ? '1' : '0';
    text += ' ' + table[value] + '\n';
  }
  return text;
}

}  // namespace

size_t write_gtkwave_view(const VcdWriter& writer, const std::string& path, const std::string& dump_file) {
  const std::string stem = std::filesystem::path(absolute(path)).replace_extension().string();

  // Signals of one scope stand together even where they were not declared together.
  std::vector<std::string> scopes;
  std::map<std::string, std::vector<SignalId>> by_scope;
  for (size_t i = 0; i < writer.signals(); ++i) {
    const auto id = static_cast<SignalId>(i);
    const std::string& name = writer.name(id);
    const size_t dot = name.rfind('.');
    const std::string scope = dot == std::string::npos ? std::string() : name.substr(0, dot);
    auto [it, fresh] = by_scope.try_emplace(scope);
    if (fresh) scopes.push_back(scope);
    it->second.push_back(id);
  }

  std::string text = "[*]\n[*] Weft\n[*]\n";
  text += fmt::format("[dumpfile] \"{}\"\n", absolute(dump_file.empty() ? writer.options().path : dump_file));
  text += fmt::format("[savefile] \"{}\"\n", absolute(path));
  text += fmt::format(
      "[timestart] {}\n[size] 1600 900\n[pos] -1 -1\n[sst_width] 260\n[signals_width] 320\n[sst_expanded] "
      "1\n",
      writer.options().window.from);
  std::set<std::string> open;
  for (const std::string& scope : scopes) {
    // Opening the top of each hierarchy shows what there is; every level of every NPU would bury it.
    const std::string top = scope.substr(0, scope.find('.'));
    if (!top.empty() && open.insert(top).second) text += fmt::format("[treeopen] {}.\n", top);
  }

  size_t traces = 0;
  std::set<uint32_t> translated;
  for (const std::string& scope : scopes) {
    if (traces == kMaxViewTraces) break;
    if (!scope.empty()) text += fmt::format("{}\n-{}\n", kHeading, scope);
    for (const SignalId id : by_scope[scope]) {
      if (traces == kMaxViewTraces) break;
      const unsigned width = writer.width(id);
      const std::string range = width > 1 ? fmt::format("[{}:0]", width - 1) : std::string();
      switch (writer.kind(id)) {
        case Kind::bit:
          text += fmt::format("{}\n{}\n", kBinary, writer.name(id));
          break;
        case Kind::number:
          text += fmt::format("{}\n{}{}\n", kDecimal, writer.name(id), range);
          break;
        case Kind::real:
          text += fmt::format("{}\n{}\n", kAnalogStep, writer.name(id));
          break;
        case Kind::enumeration: {
          const uint32_t table = writer.table_index(id);
          const std::string file = fmt::format("{}.enum{}.txt", stem, table);
          if (translated.insert(table).second) write_file(file, translation(writer.table(id), width));
          text += fmt::format("{}\n^1 {}\n{}{}\n", kTranslatedBinary, file, writer.name(id), range);
          break;
        }
        case Kind::text:
          text += fmt::format("{}\n{}\n", kText, writer.name(id));
          break;
      }
      ++traces;
    }
  }
  if (traces < writer.signals()) {
    text += fmt::format("{}\n-{} more signals are in the tree\n", kHeading, writer.signals() - traces);
  }
  write_file(path, text);
  return traces;
}

}  // namespace weft::vcd
