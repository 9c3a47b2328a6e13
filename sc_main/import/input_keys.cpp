// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/import/input_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "configs/document.h"
#include "configs/input_file.h"

namespace weft::cli::import {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Lines of 1.0's system and network files have a word, a colon and at most one value; YAML has lists.
InputKeys::Form form_of(const std::string& text) {
  const std::string begin = trimmed(text.substr(0, 4096));
  if (begin.empty() || begin[0] == '{') return InputKeys::Form::document;
  std::istringstream lines(text);
  std::string line;
  bool blank_lines = true;
  bool colon_lines = true;
  while (std::getline(lines, line)) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    const size_t blank = line.find_first_of(" \t");
    if (colon != std::string::npos && colon < blank) blank_lines = false;
    if (colon == std::string::npos || line.find_first_of("[]{},\"-") == 0 ||
        line.find('[') != std::string::npos)
      colon_lines = false;
  }
  return colon_lines   ? InputKeys::Form::colon_lines
         : blank_lines ? InputKeys::Form::blank_lines
                       : InputKeys::Form::document;
}

void flatten(const DocumentNode& node, std::vector<std::string>& out) {
  switch (node.kind) {
    case DocumentNode::Kind::scalar:
      out.push_back(node.scalar);
      break;
    case DocumentNode::Kind::sequence:
      for (const DocumentNode& item : node.items) flatten(item, out);
      break;
    case DocumentNode::Kind::map:
      for (const DocumentEntry& entry : node.entries) {
        out.push_back(entry.key);
        flatten(entry.value, out);
      }
      break;
    case DocumentNode::Kind::null:
      break;
  }
}

/// JSON is read as YAML, but what is wrong with it is said of JSON.
DocumentNode read_json_or_yaml(const std::string& text, const std::string& path) {
  try {
    return read_document(text, path);
  } catch (const UserError& e) {
    const std::string what = e.what();
    const size_t at = what.find("not valid YAML");
    if (at == std::string::npos || trimmed(text.substr(0, 4096)).substr(0, 1) != "{") throw;
    const bool cut = what.find("EOF") != std::string::npos || what.find("end of map") != std::string::npos;
    throw UserError(
        e.code(),
        what.substr(0, at) + "not valid JSON" +
            (cut ? ": the file ends too early, or a quote or bracket before is not closed. Copy it again"
                 : what.substr(at + std::string("not valid YAML").size())));
  }
}

}  // namespace

std::string InputKey::text() const {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : ", ") + value;
  return list ? "[" + out + "]" : out;
}

InputKeys::InputKeys(const std::string& path, Imported& imported) : path_(path), imported_(imported) {
  static const InputKind kind{"input", ExitCode::usage, "check the path; it is an input file of ASTRA-sim",
                              uint64_t{16} << 20};
  const std::string text = read_input(path, kind);
  form_ = form_of(text);
  if (form_ == Form::document)
    read_document_keys(text);
  else
    read_lines(text);
  if (keys_.empty() && text.find('{') == std::string::npos)
    fail("has no keys; an input file of ASTRA-sim has some. Copy or write it again");
  for (size_t i = 0; i < keys_.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (keys_[i].name == keys_[k].name)
        fail(keys_[i], fmt::format("is there twice, first in {}", keys_[k].where));
}

void InputKeys::read_document_keys(const std::string& text) {
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), '\t', ' ');  // JSON may be indented by tabs, YAML not
  const DocumentNode root = read_json_or_yaml(spaced, path_);
  if (root.kind == DocumentNode::Kind::null) return;
  if (root.kind != DocumentNode::Kind::map)
    fail(
        fmt::format("holds {}, not keys with values; it is no input file of ASTRA-sim", describe_node(root)));
  for (const DocumentEntry& entry : root.entries) {
    InputKey key;
    key.name = entry.key;
    key.where = entry.origin;
    key.list = entry.value.kind == DocumentNode::Kind::sequence;
    flatten(entry.value, key.values);
    keys_.push_back(std::move(key));
  }
}

void InputKeys::read_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  uint32_t number = 0;
  while (std::getline(lines, line)) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t end = form_ == Form::colon_lines ? line.find(':') : line.find_first_of(" \t");
    InputKey key;
    key.name = trimmed(line.substr(0, end));
    key.where = fmt::format("{}:{}", path_, number);
    std::istringstream words(end == std::string::npos ? "" : line.substr(end + 1));
    for (std::string word; words >> word;) key.values.push_back(word);
    keys_.push_back(std::move(key));
  }
}

bool InputKeys::has(const std::string& name) const {
  return std::any_of(keys_.begin(), keys_.end(), [&](const InputKey& key) { return key.name == name; });
}

const InputKey* InputKeys::take(const std::string& name) {
  for (InputKey& key : keys_)
    if (key.name == name) {
      key.used = true;
      return &key;
    }
  return nullptr;
}

const InputKey* InputKeys::take(const std::string& name, const std::string& weft, Verdict verdict,
                                const std::string& why) {
  const InputKey* key = take(name);
  if (key != nullptr) tell(*key, weft, verdict, why);
  return key;
}

void InputKeys::take_if_unused(const std::string& name, const std::string& weft, Verdict verdict,
                               const std::string& why) {
  for (InputKey& key : keys_) {
    if (key.name != name || key.used) continue;
    key.used = true;
    tell(key, weft, verdict, why);
  }
}

void InputKeys::tell(const InputKey& key, const std::string& weft, Verdict verdict, const std::string& why) {
  const std::string file = std::filesystem::path(path_).filename().string();
  imported_.report.push_back({file + key.where.substr(std::min(key.where.size(), path_.size())), key.name,
                              key.text(), weft, verdict, why});
}

void InputKeys::tell_unknown() {
  for (InputKey& key : keys_) {
    if (key.used) continue;
    key.used = true;
    tell(key, "", Verdict::no_counterpart, "unknown key");
  }
}

double InputKeys::number(const InputKey& key, size_t i) const {
  if (i >= key.values.size()) fail(key, "has no value; give a number");
  const std::string& text = key.values[i];
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0) || std::isinf(value))
    fail(key, fmt::format("is `{}`; give a number from 0", text));
  return value;
}

uint64_t InputKeys::whole(const InputKey& key, size_t i) const {
  const double value = number(key, i);
  if (value != std::floor(value) || value > 1e15)
    fail(key, fmt::format("is `{}`; give a whole number", key.values[i]));
  return static_cast<uint64_t>(value);
}

void InputKeys::fail(const InputKey& key, const std::string& what) const {
  throw UserError(ExitCode::usage, fmt::format("{}: key `{}` {}", key.where, key.name, what));
}

void InputKeys::fail(const std::string& what) const {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", path_, what));
}

}  // namespace weft::cli::import
