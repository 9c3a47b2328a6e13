// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/machine.h"

#include <fmt/format.h>

#include "tests/relations/random.h"

namespace weft::relations {
namespace {

/// Settings as nested mappings.
struct Section {
  std::string value;
  std::map<std::string, Section> below;
};

void insert(Section& section, const std::string& key, const std::string& value) {
  const size_t dot = key.find('.');
  Section& next = section.below[key.substr(0, dot)];
  if (dot == std::string::npos)
    next.value = value;
  else
    insert(next, key.substr(dot + 1), value);
}

template <typename Map>
std::vector<const typename Map::value_type*> ordered(const Map& map, Random* random) {
  std::vector<const typename Map::value_type*> entries;
  for (const auto& entry : map) entries.push_back(&entry);
  if (random != nullptr) random->shuffle(entries);
  return entries;
}

void print(const Section& section, size_t indent, Random* random, std::string& out) {
  for (const auto* entry : ordered(section.below, random)) {
    const auto& [name, below] = *entry;
    out += fmt::format("{:{}}{}:{}{}\n", "", indent, name, below.value.empty() ? "" : " ", below.value);
    print(below, indent + 2, random, out);
  }
}

std::string entry(const Settings& keys, Random* random) {
  Section root;
  for (const auto& [key, value] : keys) insert(root, key, value);
  std::string out;
  for (const auto* item : ordered(root.below, random)) {
    std::string value = item->second.value;
    if (!item->second.below.empty()) {
      std::string inner;
      for (const auto* key : ordered(item->second.below, random))
        inner += fmt::format("{}{}: {}", inner.empty() ? "" : ", ", key->first, key->second.value);
      value = "{" + inner + "}";
    }
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", item->first, value);
  }
  return "{" + out + "}";
}

std::string to_yaml(const Machine& machine, Random* random) {
  Section root;
  root.below["weft"].value = "1";
  insert(root, "topology.notation", machine.notation());
  std::string entries;
  for (const Dimension& d : machine.dimensions) entries += "\n    - " + entry(d.keys, random);
  insert(root, "topology.dimensions", entries);
  for (const auto& [key, value] : machine.keys) insert(root, key, value);
  std::string out;
  print(root, 0, random, out);
  return out;
}

struct Quantity {
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  std::string unit;
  bool valid = false;
};

Quantity parse(const std::string& value) {
  Quantity q;
  size_t at = 0;
  const auto digits = [&] {
    uint64_t n = 0;
    while (at < value.size() && value[at] >= '0' && value[at] <= '9')
      n = n * 10 + static_cast<uint64_t>(value[at++] - '0');
    return n;
  };
  if (value.empty() || value[0] < '0' || value[0] > '9') return q;
  q.numerator = digits();
  if (at < value.size() && value[at] == '/') {
    ++at;
    q.denominator = digits();
  }
  if (at < value.size() && value[at] == '.') return q;
  q.unit = value.substr(at);
  q.valid = q.denominator != 0;
  return q;
}

std::string print(const Quantity& q) {
  if (q.denominator == 1) return fmt::format("{}{}", q.numerator, q.unit);
  return fmt::format("{}/{}{}", q.numerator, q.denominator, q.unit);
}

}  // namespace

std::string Dimension::notation() const {
  return tree() ? kind : fmt::format("{}({})", kind, size);
}

uint32_t Machine::npus() const {
  uint32_t n = 1;
  for (const Dimension& d : dimensions) n *= d.size;
  return n;
}

std::string Machine::notation() const {
  std::string out;
  for (const Dimension& d : dimensions) out += (out.empty() ? "" : "_") + d.notation();
  return out;
}

std::string Machine::yaml() const {
  return to_yaml(*this, nullptr);
}

std::string Machine::yaml(uint64_t order) const {
  Random random(order);
  return to_yaml(*this, &random);
}

uint32_t Machine::coordinate(uint32_t rank, size_t dimension) const {
  for (size_t d = 0; d < dimension; ++d) rank /= dimensions[d].size;
  return rank % dimensions[dimension].size;
}

uint32_t Machine::moved(uint32_t rank, size_t dimension, uint32_t to) const {
  uint32_t stride = 1;
  for (size_t d = 0; d < dimension; ++d) stride *= dimensions[d].size;
  return rank - coordinate(rank, dimension) * stride + to * stride;
}

std::string times(const std::string& value, uint64_t by) {
  Quantity q = parse(value);
  if (!q.valid) return value;
  q.numerator *= by;
  return print(q);
}

std::string half(const std::string& value) {
  Quantity q = parse(value);
  if (!q.valid) return value;
  const bool time = q.unit.empty() || q.unit.back() == 's';
  const bool rate = q.unit.find("/s") != std::string::npos;
  if (q.numerator % 2 == 0 || (time && !rate))
    q.numerator /= 2;
  else
    q.denominator *= 2;
  return print(q);
}

uint64_t number(const std::string& value) {
  return parse(value).numerator;
}

}  // namespace weft::relations
