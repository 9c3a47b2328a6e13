// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/pytorch/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "configs/input_file.h"

namespace weft::convert::pytorch {
namespace {

const InputKind kJsonInput{"trace", ExitCode::trace,
                           "check the path; a PyTorch execution trace and a Kineto trace are JSON files",
                           uint64_t{4} << 30};

/// Lower case, without what is no letter.
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

Json read_json(const std::string& path, const char* what) {
  const std::string content = read_input(path, kJsonInput);
  if (content.compare(0, 2, "\x1F\x8B") == 0)
    throw UserError(ExitCode::trace,
                    fmt::format("{}: this file is packed by gzip; unpack it first: gunzip {}", path, path));
  try {
    // Depth is bounded by hand: the parser itself would recurse only when the value is destroyed.
    int depth = 0;
    const auto shallow = [&](int level, Json::parse_event_t, Json&) {
      depth = std::max(depth, level);
      if (depth > 200) throw UserError(ExitCode::trace, fmt::format("{}: nested more than 200 deep", path));
      return true;
    };
    Json json = Json::parse(content, shallow);
    if (json.is_object()) return json;
  } catch (const Json::parse_error& e) {
    throw UserError(
        ExitCode::trace,
        fmt::format("{}, byte {}: this is no complete JSON: {}{}. Record or copy the trace again.", path,
                    e.byte, content.size() <= e.byte + 1 ? "the file ends too early; it was cut: " : "",
                    e.what()));
  }
  throw UserError(ExitCode::trace, fmt::format("{}: this is no {}: it must be one JSON object", path, what));
}

std::optional<int64_t> integer(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return std::nullopt;
  if (it->is_number_unsigned() && it->get<uint64_t>() > uint64_t{1} << 62) return std::nullopt;
  if (it->is_number_integer()) return it->get<int64_t>();
  if (it->is_number_float() && std::fabs(it->get<double>()) < 9e18)
    return static_cast<int64_t>(it->get<double>());
  if (it->is_string()) {
    const std::string& digits = it->get_ref<const std::string&>();
    if (!digits.empty() && digits.size() < 19 &&
        std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      return std::stoll(digits);
  }
  return std::nullopt;
}

std::optional<double> real(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

std::string text(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return "";
  if (it->is_string()) return it->get<std::string>();
  return it->is_number_integer() ? it->dump() : "";
}

Call call_of(const std::string& name, CollectiveOp& op) {
  const std::string word = plain(name);
  const auto has = [&](const char* part) { return word.find(part) != word.npos; };
  const auto is = [&](CollectiveOp found) {
    op = found;
    return Call::collective;
  };
  if (word == "wait") return Call::wait;
  if (word == "init" || word.empty()) return Call::other;
  if (has("reducescatter")) return is(CollectiveOp::reduce_scatter);
  if (has("allreduce")) return is(CollectiveOp::all_reduce);
  if (has("allgather")) return is(CollectiveOp::all_gather);
  if (has("alltoall")) return is(CollectiveOp::all_to_all);
  if (has("broadcast")) return is(CollectiveOp::broadcast);
  if (has("barrier")) return is(CollectiveOp::barrier);
  if (has("gather")) return is(CollectiveOp::gather);
  if (has("scatter")) return is(CollectiveOp::scatter);
  if (has("sendrecv")) return Call::unknown;  // its caller says which
  if (has("reduce")) return is(CollectiveOp::reduce);
  if (has("send")) return Call::send;
  if (has("recv")) return Call::receive;
  return Call::unknown;
}

uint64_t element_bytes(const std::string& type) {
  static constexpr std::pair<const char*, uint64_t> kSizes[] = {
      {"complexdouble", 16}, {"complexfloat", 8}, {"bfloat", 2},     {"float8", 1},       {"half", 2},
      {"double", 8},         {"float", 4},        {"long", 8},       {"short", 2},        {"byte", 1},
      {"char", 1},           {"bool", 1},         {"signedchar", 1}, {"unsignedchar", 1}, {"int", 4}};
  std::string word;
  for (const char c : type)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* bits : {"64", "32", "16", "8"})
    if (word.rfind("float" + std::string(bits), 0) == 0 || word.rfind("int" + std::string(bits), 0) == 0 ||
        word.rfind("uint" + std::string(bits), 0) == 0)
      return std::stoull(bits) / 8;
  for (const auto& [name, bytes] : kSizes)
    if (word.find(name) != word.npos) return bytes;
  return 0;
}

}  // namespace weft::convert::pytorch
