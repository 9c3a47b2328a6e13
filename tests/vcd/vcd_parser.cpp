// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd_parser.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace weft::vcd::test {
namespace {

std::string without_leading_zeros(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "b0";
  // "xxx" and "x" are the same unknown vector.
  if (digits.find_first_not_of('x') == std::string::npos) return "bx";
  return "b" + digits.substr(first);
}

}  // namespace

ParsedVcd parse_vcd(const std::string& text) {
  ParsedVcd vcd;
  std::map<std::string, std::vector<std::string>> names;
  std::vector<std::string> scope;
  std::istringstream lines(text);
  std::string line;
  bool definitions = true;
  bool dumping = false;
  bool timed = false;
  uint64_t now = 0;
  int number = 0;
  std::string pending;  // a keyword whose $end is on a later line
  const auto fail = [&number, &line](const std::string& why) {
    throw std::runtime_error("line " + std::to_string(number) + " '" + line + "': " + why);
  };
  while (std::getline(lines, line)) {
    ++number;
    if (!pending.empty()) {
      if (line.find("$end") != std::string::npos) pending.clear();
      continue;
    }
    std::istringstream words(line);
    std::string first;
    if (!(words >> first)) {
      if (!line.empty() && line.find_first_not_of(" \t") != std::string::npos) fail("unreadable");
      continue;
    }
    if (first == "$comment") vcd.comments.push_back(line);
    if (first == "$comment" || first == "$version" || first == "$timescale" || first == "$date") {
      if (line.find("$end") == std::string::npos) pending = first;
    } else if (first == "$scope") {
      std::string type;
      std::string name;
      words >> type >> name;
      if (type != "module") fail("scope type");
      scope.push_back(name);
    } else if (first == "$upscope") {
      if (scope.empty()) fail("upscope without scope");
      scope.pop_back();
    } else if (first == "$var") {
      if (!definitions) fail("variable after the definitions");
      std::string type;
      std::string width;
      std::string code;
      std::string name;
      words >> type >> width >> code >> name;
      std::string full;
      for (const std::string& s : scope) full += s + ".";
      full += name;
      if (!vcd.declared.emplace(full, type + " " + width).second) fail("declared twice");
      const auto [of_code, fresh] = names.try_emplace(code);
      // Another name of one signal has its code.
      if (!fresh && vcd.declared[full] != vcd.declared[of_code->second.front()]) fail("code of another type");
      of_code->second.push_back(full);
      vcd.codes[full] = code;
    } else if (first == "$enddefinitions") {
      if (!scope.empty()) fail("open scope");
      definitions = false;
    } else if (first == "$dumpvars") {
      if (vcd.dumped) fail("second dump");
      if (!timed) fail("dump without a time");
      dumping = vcd.dumped = true;
      vcd.dump_time = now;
    } else if (first == "$end") {
      if (!dumping) fail("stray $end");
      dumping = false;
    } else if (first[0] == '#') {
      const uint64_t t = std::stoull(first.substr(1));
      if (timed && t <= now) fail("time does not increase");
      now = t;
      timed = true;
      vcd.times.push_back(t);
    } else {
      if (definitions) fail("value among the definitions");
      if (!timed) fail("value before the first time");
      std::string value;
      std::string code;
      if (first[0] == 'b' || first[0] == 'r' || first[0] == 's') {
        value = first[0] == 'b' ? without_leading_zeros(first.substr(1)) : first;
        words >> code;
      } else if (first[0] == '0' || first[0] == '1' || first[0] == 'x') {
        value = first.substr(0, 1);
        code = first.substr(1);
      } else {
        fail("unknown value");
      }
      std::string rest;
      if (words >> rest) fail("more than a value and a code");
      const auto name = names.find(code);
      if (name == names.end()) fail("unknown code");
      for (const std::string& full : name->second) vcd.changes[full].push_back({now, value});
    }
  }
  if (definitions) fail("no $enddefinitions");
  if (dumping) fail("the dump has no end");
  return vcd;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft_vcd_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weft::vcd::test
