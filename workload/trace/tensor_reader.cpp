// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/tensor_reader.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "workload/trace/wire.h"

namespace weft::trace {
namespace {

using wire::Cursor;

/// The elements of a field of a message, of type bytes.
template <typename F>
void for_each_bytes(Cursor message, uint32_t wanted, F&& f) {
  uint32_t field = 0, type = 0;
  while (!message.done() && message.tag(field, type)) {
    Cursor sub;
    if (field == wanted && type == wire::kBytes) {
      if (!message.bytes(sub)) return;
      f(sub);
    } else if (!message.skip(type)) {
      return;
    }
  }
}

/// PyTorch's list in text: finds the tensors in it, at any depth.
class TensorList {
 public:
  TensorList(std::string_view text, bool output, std::vector<TensorUse>& uses)
      : text_(text), output_(output), uses_(uses) {}

  void read() {
    // A tensor is a list without lists in it: numbers, then the device.
    size_t begin = std::string_view::npos;
    bool quoted = false;
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\'') quoted = !quoted;
      if (quoted) continue;
      if (c == '[' || c == '(') begin = i + 1;
      if ((c == ']' || c == ')') && begin != std::string_view::npos) {
        add(text_.substr(begin, i - begin));
        begin = std::string_view::npos;
      }
    }
  }

 private:
  static std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\'')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\'')) s.remove_suffix(1);
    return s;
  }

  void add(std::string_view list) {
    constexpr size_t kNumbers = 5;
    std::array<uint64_t, kNumbers> numbers{};
    for (uint64_t& number : numbers) {
      const size_t comma = list.find(',');
      if (comma == std::string_view::npos) return;
      const std::string_view word = trimmed(list.substr(0, comma));
      const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
      if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return;
      list.remove_prefix(comma + 1);
    }
    if (list.find('\'') == std::string_view::npos) return;  // six numbers are no tensor
    const std::string_view device = trimmed(list);
    if (device.empty() || device.substr(0, 3) == "cpu") return;
    const auto [tensor, storage, offset, elements, size] = numbers;
    uint64_t end = 0, bytes = 0;
    if (__builtin_add_overflow(offset, elements, &end) || __builtin_mul_overflow(end, size, &bytes)) return;
    // A tensor without a storage is its own.
    const std::string owner =
        storage != 0 ? fmt::format("storage {}", storage) : fmt::format("tensor {}", tensor);
    uses_.push_back({owner + " on " + std::string(device), bytes, output_});
  }

  std::string_view text_;
  bool output_;
  std::vector<TensorUse>& uses_;
};

/// A size as STAGE writes it: "1048576.0".
std::optional<uint64_t> size_of(std::string_view text) {
  if (text.empty() || (text[0] != '.' && (text[0] < '0' || text[0] > '9'))) return {};
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || !std::isfinite(value) || value < 0 || value >= 0x1p63) return {};
  return static_cast<uint64_t>(std::ceil(value));
}

/// STAGE's list of strings: names, each with its bytes after it or without.
void read_names(Cursor list, bool output, std::vector<TensorUse>& uses) {
  bool named = false;
  for_each_bytes(list, 1, [&](Cursor value) {
    const std::string_view text = value.text();
    const std::optional<uint64_t> bytes = size_of(text);
    if (!bytes) {
      uses.push_back({std::string(text), 0, output});
      named = !text.empty();
    } else if (named) {
      uses.back().bytes = *bytes;
      named = false;
    }
  });
}

/// An attribute `inputs` or `outputs` with a list of strings.
void read_attribute(Cursor attribute, bool outputs, std::vector<TensorUse>& uses) {
  constexpr uint32_t kStringList = 30;
  std::string_view name;
  for_each_bytes(attribute, 1, [&](Cursor text) { name = text.text(); });
  if (name != (outputs ? "outputs" : "inputs")) return;
  for_each_bytes(attribute, kStringList, [&](Cursor list) { read_names(list, outputs, uses); });
}

}  // namespace

void read_tensors(const uint8_t* data, size_t size, std::vector<TensorUse>& uses) {
  constexpr uint32_t kInputs = 8, kOutputs = 9, kAttribute = 10;
  const Cursor node(data, size);
  const size_t before = uses.size();
  for (const uint32_t field : {kInputs, kOutputs}) {
    for_each_bytes(node, field, [&](Cursor io) {
      for_each_bytes(io, 1,
                     [&](Cursor values) { TensorList(values.text(), field == kOutputs, uses).read(); });
    });
  }
  if (uses.size() != before) return;
  for (const bool outputs : {false, true})
    for_each_bytes(node, kAttribute, [&](Cursor attribute) { read_attribute(attribute, outputs, uses); });
}

}  // namespace weft::trace
