// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "configs/input_file.h"

namespace weft::library {
namespace {

constexpr InputKind kOverridesInput{"tuner", ExitCode::usage, "check the path in `collectives.overrides`",
                                    uint64_t{16} << 20};
constexpr const char* kForm =
    "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks[,pipelined "
    "operations,registered]";
constexpr size_t kFields = 8;
constexpr size_t kMostFields = 10;

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// In lower case, without what separates words: "All_Reduce" and "allreduce" are the same.
std::string word(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (c != '_' && c != '-' && c != ' ')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

[[noreturn]] void fail(const std::string& where, const std::string& why) {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", where, why));
}

/// -1 or a whole number.
int64_t number(const std::string& field, const char* name, const std::string& where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || value < -1)
    fail(where,
         fmt::format("{} is '{}', which is no whole number from 0 on, and not -1 for any", name, field));
  return value;
}

template <typename Name>
std::optional<Name> find_name(const std::string& field, int count) {
  for (int i = 0; i < count; ++i)
    if (word(to_string(static_cast<Name>(i))) == word(field)) return static_cast<Name>(i);
  return std::nullopt;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(trimmed(field));
  if (!line.empty() && line.back() == ',') fields.emplace_back();
  return fields;
}

bool any(const std::string& field) {
  return field == "-1" || word(field) == "default";
}

}  // namespace

Overrides Overrides::read(const std::string& path) {
  return parse(read_input(path, kOverridesInput), path);
}

Overrides Overrides::parse(const std::string& text, const std::string& file) {
  Overrides overrides;
  std::stringstream stream(text);
  uint32_t number = 0;
  for (std::string raw; std::getline(stream, raw);) {
    ++number;
    const std::string line = trimmed(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    if (overrides.lines_.empty() && word(line).rfind("collective,", 0) == 0)
      continue;  // names of the columns
    const Line parsed = parse_line(line, fmt::format("{}:{}", file, number));
    for (const Line& other : overrides.lines_)
      if (overlap(other, parsed))
        fail(parsed.forced.line, fmt::format("matches calls that {} matches, too; narrow the range of bytes, "
                                             "nodes or ranks of one of them",
                                             other.forced.line));
    overrides.lines_.push_back(parsed);
  }
  return overrides;
}

Overrides::Line Overrides::parse_line(const std::string& text, const std::string& where) {
  const std::vector<std::string> fields = fields_of(text);
  if (fields.size() < kFields || fields.size() > kMostFields)
    fail(where, fmt::format("has {} fields; write {}", fields.size(), kForm));
  Line line;
  line.forced.line = where;
  const auto op = find_name<LibraryOp>(fields[0], kLibraryOps);
  if (!op || *op == LibraryOp::all_to_all || *op == LibraryOp::send)
    fail(where,
         fmt::format(
             "'{}' is no collective that a tuner chooses for; write allreduce, allgather, reducescatter, "
             "broadcast or reduce",
             fields[0]));
  line.op = *op;
  const int64_t least = number(fields[1], "min_bytes", where);
  const int64_t most = number(fields[2], "max_bytes", where);
  if (least > 0) line.least = static_cast<uint64_t>(least);
  if (most >= 0) line.most = static_cast<uint64_t>(most);
  if (line.most < line.least)
    fail(where, fmt::format("max_bytes {} is less than min_bytes {}; swap them", line.most, line.least));
  if (!any(fields[3])) {
    line.forced.algorithm = find_name<LibraryAlgorithm>(fields[3], kLibraryAlgorithms);
    if (!line.forced.algorithm || *line.forced.algorithm == LibraryAlgorithm::none)
      fail(where, fmt::format("'{}' is no algorithm; write ring, tree, nvls, nvls_tree, collnet_direct, "
                              "collnet_chain, pat, all_pairs (RCCL) or -1",
                              fields[3]));
  }
  if (!any(fields[4])) {
    line.forced.protocol = find_name<Protocol>(fields[4], kProtocols);
    if (!line.forced.protocol)
      fail(where, fmt::format("'{}' is no protocol; write ll, ll128, simple or -1", fields[4]));
  }
  const int64_t channels = number(fields[5], "channels", where);
  if (channels == 0 || channels > 1024)
    fail(where, "channels must be from 1 to 1024, or -1 for the library's own");
  if (channels > 0) line.forced.channels = static_cast<uint32_t>(channels);
  line.nodes = number(fields[6], "nodes", where);
  line.ranks = number(fields[7], "ranks", where);
  for (size_t i = kFields; i < fields.size(); ++i)
    number(fields[i], i == kFields ? "pipelined operations" : "registered", where);
  return line;
}

bool Overrides::overlap(const Line& a, const Line& b) {
  const auto same = [](int64_t x, int64_t y) { return x < 0 || y < 0 || x == y; };
  return a.op == b.op && a.least <= b.most && b.least <= a.most && same(a.nodes, b.nodes) &&
         same(a.ranks, b.ranks);
}

Forced Overrides::find(LibraryOp op, uint64_t bytes, uint32_t nodes, uint32_t ranks) const {
  for (const Line& line : lines_) {
    if (line.op != op || bytes < line.least || bytes > line.most) continue;
    if (line.nodes >= 0 && line.nodes != nodes) continue;
    if (line.ranks >= 0 && line.ranks != ranks) continue;
    return line.forced;
  }
  return {};
}

}  // namespace weft::library
