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

#include "vcd/glob.h"

namespace weft::vcd {
namespace {

// GTKWave's trace flags, hexadecimal in a save file.
constexpr const char* kHeading = "@200";
constexpr const char* kBinary = "@28";
constexpr const char* kDecimal = "@24";
constexpr const char* kAnalogStep = "@8420";
constexpr const char* kTranslatedBinary = "@2028";
constexpr const char* kText = "@820";
constexpr const char* kGroup = "@800200";
constexpr const char* kGroupEnd = "@1000200";
constexpr const char* kFolded = "@c00200";
constexpr const char* kFoldedEnd = "@1401200";

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

std::string scope_of(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

/// Signals of one scope stand together even where they were not declared together.
std::vector<SignalId> by_scope(const VcdWriter& writer, const std::vector<SignalId>& signals) {
  std::vector<std::string> scopes;
  std::map<std::string, std::vector<SignalId>> of;
  for (const SignalId id : signals) {
    const auto [it, fresh] = of.try_emplace(scope_of(writer.name(id)));
    if (fresh) scopes.push_back(it->first);
    it->second.push_back(id);
  }
  std::vector<SignalId> sorted;
  for (const std::string& scope : scopes) sorted.insert(sorted.end(), of[scope].begin(), of[scope].end());
  return sorted;
}

/// 'job.npu0.state' as 'npu0 state'. GTKWave shows what follows the last dot of a name, which would be the
/// same for every rank where no heading tells them apart.
std::string spaced_name(const std::string& name) {
  const size_t top = name.find('.');
  std::string spaced = top == std::string::npos ? name : name.substr(top + 1);
  std::replace(spaced.begin(), spaced.end(), '.', ' ');
  return spaced;
}

/// The traces of a view.
class View {
 public:
  View(const VcdWriter& writer, std::string stem) : writer_(writer), stem_(std::move(stem)) {}

  void section(const ViewSection& section, const std::vector<SignalId>& signals) {
    if (signals.empty() || traces_ == kMaxViewTraces) return;
    text_ += fmt::format("{}\n-{}\n", section.folded ? kFolded : kGroup, section.title);
    add(signals, section.folded);
    text_ += fmt::format("{}\n-{}\n", section.folded ? kFoldedEnd : kGroupEnd, section.title);
  }

  /// `headings`: one a scope.
  void add(const std::vector<SignalId>& signals, bool headings) {
    std::string scope;
    for (const SignalId id : by_scope(writer_, signals)) {
      if (traces_ == kMaxViewTraces) return;
      const std::string own = scope_of(writer_.name(id));
      if (headings && own != scope && !own.empty()) text_ += fmt::format("{}\n-{}\n", kHeading, own);
      scope = own;
      trace(id, headings ? std::string() : spaced_name(writer_.name(id)));
    }
  }

  size_t traces() const { return traces_; }
  const std::string& text() const { return text_; }

 private:
  /// `alias`: the name shown in place of the last part of the signal's; empty: none.
  void trace(SignalId id, const std::string& alias) {
    const unsigned width = writer_.width(id);
    const std::string name = (alias.empty() ? "" : "+{" + alias + "} ") + writer_.name(id);
    const std::string range = width > 1 ? fmt::format("[{}:0]", width - 1) : std::string();
    switch (writer_.kind(id)) {
      case Kind::bit:
        text_ += fmt::format("{}\n{}\n", kBinary, name);
        break;
      case Kind::number:
        text_ += fmt::format("{}\n{}{}\n", kDecimal, name, range);
        break;
      case Kind::real:
        text_ += fmt::format("{}\n{}\n", kAnalogStep, name);
        break;
      case Kind::enumeration: {
        const uint32_t table = writer_.table_index(id);
        const std::string file = fmt::format("{}.enum{}.txt", stem_, table);
        if (translated_.insert(table).second) write_file(file, translation(writer_.table(id), width));
        text_ += fmt::format("{}\n^1 {}\n{}{}\n", kTranslatedBinary, file, name, range);
        break;
      }
      case Kind::text:
        text_ += fmt::format("{}\n{}\n", kText, name);
        break;
    }
    ++traces_;
  }

  const VcdWriter& writer_;
  const std::string stem_;  ///< of the translation files
  std::string text_;
  size_t traces_ = 0;
  std::set<uint32_t> translated_;
};

/// The signals of each section, and last those of none.
std::vector<std::vector<SignalId>> divide(const VcdWriter& writer, const std::vector<ViewSection>& sections) {
  std::vector<Glob> globs;
  for (const ViewSection& section : sections) globs.emplace_back(section.signals);
  std::vector<std::vector<SignalId>> parts(sections.size() + 1);
  for (size_t i = 0; i < writer.signals(); ++i) {
    const auto id = static_cast<SignalId>(i);
    size_t part = 0;
    while (part < sections.size() &&
           (parts[part].size() >= sections[part].most || !globs[part].matches(writer.name(id))))
      ++part;
    parts[part].push_back(id);
  }
  return parts;
}

}  // namespace

size_t write_gtkwave_view(const VcdWriter& writer, const std::string& path, const std::string& dump_file,
                          const std::vector<ViewSection>& sections) {
  std::string text = "[*]\n[*] Weft\n[*]\n";
  text += fmt::format("[dumpfile] \"{}\"\n", absolute(dump_file.empty() ? writer.options().path : dump_file));
  text += fmt::format("[savefile] \"{}\"\n", absolute(path));
  text += fmt::format(
      "[timestart] {}\n[size] 1600 900\n[pos] -1 -1\n[sst_width] 260\n[signals_width] 320\n[sst_expanded] "
      "1\n",
      writer.options().window.from);
  std::set<std::string> open;
  for (size_t i = 0; i < writer.signals(); ++i) {
    // Opening the top of each hierarchy shows what there is; every level of every NPU would bury it.
    const std::string& name = writer.name(static_cast<SignalId>(i));
    const size_t dot = name.find('.');
    if (dot != std::string::npos && open.insert(name.substr(0, dot)).second)
      text += fmt::format("[treeopen] {}.\n", name.substr(0, dot));
  }
  View view(writer, std::filesystem::path(absolute(path)).replace_extension().string());
  const std::vector<std::vector<SignalId>> parts = divide(writer, sections);
  for (size_t i = 0; i < sections.size(); ++i) view.section(sections[i], parts[i]);
  view.add(parts.back(), true);
  text += view.text();
  if (view.traces() < writer.signals())
    text += fmt::format("{}\n-{} more signals are in the tree\n", kHeading, writer.signals() - view.traces());
  write_file(path, text);
  return view.traces();
}

}  // namespace weft::vcd
