// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/point_result.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "configs/types.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

/// Takes the document as it is read, so that numbers keep their digits.
class Flattener : public nlohmann::json_sax<nlohmann::json> {
 public:
  Values values;
  std::string problem;

  bool null() override { return add(""); }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return add(text); }
  bool string(string_t& text) override { return add(text); }
  bool binary(binary_t&) override { return add(""); }
  bool start_object(size_t) override { return begin(false); }
  bool start_array(size_t) override { return begin(true); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t& word) override {
    levels_.back().key = word;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) override {
    problem = e.what();
    return false;
  }

 private:
  struct Level {
    bool array;
    std::string path;
    std::string key;
    size_t index = 0;
  };

  /// The path of the value that comes.
  std::string next() {
    if (levels_.empty()) return "value";
    Level& level = levels_.back();
    if (level.array) return fmt::format("{}[{}]", level.path, level.index++);
    return level.path.empty() ? level.key : level.path + "." + level.key;
  }
  bool add(const std::string& text) {
    std::string path = next();
    if (seen_.insert(path).second) values.emplace_back(std::move(path), text);
    return true;
  }
  bool begin(bool array) {
    std::string path = levels_.empty() ? std::string() : next();
    levels_.push_back({array, std::move(path), "", 0});
    return true;
  }
  bool end() {
    levels_.pop_back();
    return true;
  }

  std::vector<Level> levels_;
  std::set<std::string> seen_;
};

}  // namespace

Values flatten_json(std::string_view json) {
  Flattener flattener;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &flattener) || !flattener.problem.empty())
    throw UserError(ExitCode::internal,
                    fmt::format("the command's output is no JSON: {}", shortened(flattener.problem)));
  return std::move(flattener.values);
}

std::string error_text(std::string_view text) {
  constexpr size_t kMost = 2000;
  constexpr std::string_view kMark = "weft: error: ";
  const size_t first = text.find(kMark);
  if (first != text.npos) text.remove_prefix(first + kMark.size());
  std::string line;
  bool gap = false;
  for (const char c : trimmed(text)) {
    if (c == '\n') line += " /";
    gap = gap || static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') continue;
    if (gap && !line.empty()) line += ' ';
    gap = false;
    line += c;
    if (line.size() >= kMost) return line + " ..";
  }
  return line;
}

bool differs_by_run(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view word = dot == name.npos ? name : name.substr(dot + 1);
  return word == "wall_s" || word == "peak_rss_MiB";
}

}  // namespace weft::sweep
