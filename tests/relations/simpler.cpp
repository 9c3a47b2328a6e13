// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The steps by which a failing case becomes small: fewer works, dimensions, ranks, keys and bytes.

#include <algorithm>
#include <utility>

#include "tests/relations/case.h"

namespace weft::relations {
namespace {

class Steps {
 public:
  explicit Steps(const Case& c) : case_(c) {}

  std::vector<Case> all() {
    works();
    dimensions();
    keys();
    amounts();
    choices();
    return std::move(out_);
  }

 private:
  void add(Case c) { out_.push_back(std::move(c)); }

  /// The case on another machine: rank r becomes to[r].
  void resized(Machine machine, const std::vector<uint32_t>& to) {
    if (machine.npus() < 2) return;
    Case c = case_;
    c.machine = std::move(machine);
    if (c.job) c.job = c.job->renumbered(to);
    if (c.collective) {
      const uint32_t root = c.collective->root < to.size() ? to[c.collective->root] : kGone;
      c.collective->root = root == kGone ? 0 : root;
    }
    add(std::move(c));
  }

  void dimension_of(size_t d, uint32_t size) {
    Machine machine = case_.machine;
    if (size == 1) {
      machine.dimensions.erase(machine.dimensions.begin() + static_cast<std::ptrdiff_t>(d));
    } else {
      machine.dimensions[d].size = size;
    }
    if (machine.dimensions.empty()) return;
    std::vector<uint32_t> to(case_.machine.npus(), kGone);
    for (uint32_t r = 0; r < to.size(); ++r) {
      if (case_.machine.coordinate(r, d) >= size) continue;
      uint32_t rank = 0;
      uint32_t stride = 1;
      for (size_t i = 0; i < case_.machine.dimensions.size(); ++i) {
        const uint32_t n = i == d ? size : case_.machine.dimensions[i].size;
        rank += case_.machine.coordinate(r, i) * stride;
        stride *= n;
      }
      to[r] = rank;
    }
    resized(std::move(machine), to);
  }

  void dimensions() {
    const auto& list = case_.machine.dimensions;
    for (size_t d = 0; d < list.size(); ++d) {
      if (list.size() > 1) dimension_of(d, 1);
      if (list[d].tree()) {
        Case c = case_;
        c.machine.dimensions[d].kind = "Switch";
        c.machine.dimensions[d].keys.erase("levels");
        add(std::move(c));
        continue;
      }
      if (list[d].size > 2) dimension_of(d, 2);
      if (list[d].size > 4) dimension_of(d, list[d].size / 2);
      if (list[d].size > 3) dimension_of(d, list[d].size - 1);
    }
  }

  void works() {
    if (!case_.job) return;
    const size_t n = case_.job->works.size();
    for (size_t half = n / 2; half >= 2; half /= 2) {  // halves and quarters first
      for (size_t first = 0; first < n; first += half) {
        Case c = case_;
        for (size_t i = std::min(first + half, n); i-- > first;) c.job = c.job->without(i);
        add(std::move(c));
      }
    }
    for (size_t i = n; i-- > 0;) {
      Case c = case_;
      c.job = c.job->without(i);
      add(std::move(c));
    }
    for (size_t i = 0; i < n; ++i) {
      const Work& work = case_.job->works[i];
      for (size_t k = 0; k < work.after.size(); ++k) {
        Case c = case_;
        auto& after = c.job->works[i].after;
        after.erase(after.begin() + static_cast<std::ptrdiff_t>(k));
        add(std::move(c));
      }
      const bool on_each = work.kind != Work::Kind::message && work.kind != Work::Kind::collective;
      for (size_t k = 0; on_each && work.ranks.size() > 1 && k < work.ranks.size(); ++k) {
        Case c = case_;
        auto& ranks = c.job->works[i].ranks;
        ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(k));
        add(std::move(c));
      }
    }
    unused_groups();
    if (case_.job->order != 0) {
      Case c = case_;
      c.job->order = 0;
      add(std::move(c));
    }
  }

  void unused_groups() {
    for (const auto& [name, ranks] : case_.job->groups) {
      const auto uses = [&name = name](const Work& w) { return w.group == name; };
      if (std::any_of(case_.job->works.begin(), case_.job->works.end(), uses)) continue;
      Case c = case_;
      c.job->groups.erase(name);
      add(std::move(c));
    }
  }

  void keys() {
    for (const auto& [key, value] : case_.machine.keys) {
      Case c = case_;
      c.machine.keys.erase(key);
      add(std::move(c));
    }
    for (size_t d = 0; d < case_.machine.dimensions.size(); ++d) {
      for (const auto& [key, value] : case_.machine.dimensions[d].keys) {
        if (key == "bandwidth" || key == "bandwidth_per_npu") {
          plain(d, key, value, "100 GB/s");
          continue;
        }
        Case c = case_;
        c.machine.dimensions[d].keys.erase(key);
        add(std::move(c));
        if (key == "latency") {
          if (value != "0 ns") plain(d, key, value, "1000 ns");
          plain(d, key, value, "0 ns");
        }
      }
    }
    for (const auto& [key, value] : case_.machine.keys) smaller_key(key, value);
  }

  void plain(size_t d, const std::string& key, const std::string& value, const std::string& to) {
    if (value == to) return;
    Case c = case_;
    c.machine.dimensions[d].keys[key] = to;
    add(std::move(c));
  }

  /// A smaller whole number; with a unit only if it stays above 0.
  void smaller_key(const std::string& key, const std::string& value) {
    const uint64_t n = number(value);
    const std::string rest = value.substr(std::min(value.find_first_not_of("0123456789"), value.size()));
    for (const uint64_t to : {uint64_t{1}, uint64_t{2}, n / 2, n - 1}) {
      if (n < 2 || to == 0 || to >= n || (to == 1 && n == 2 && rest.empty() && key.empty())) continue;
      Case c = case_;
      c.machine.keys[key] = std::to_string(to) + rest;
      add(std::move(c));
    }
  }

  static std::vector<uint64_t> lower(uint64_t n) {
    std::vector<uint64_t> out;
    uint64_t power = 1;
    while (power * 2 < n) power *= 2;
    for (const uint64_t to :
         {uint64_t{1}, uint64_t{64}, uint64_t{1024}, n / 16, n / 2, power, n - n % 64, n - 1})
      if (to < n && to != 0 && std::find(out.begin(), out.end(), to) == out.end()) out.push_back(to);
    return out;
  }

  void amounts() {
    if (case_.collective) {
      for (const uint64_t bytes : lower(case_.collective->bytes)) {
        Case c = case_;
        c.collective->bytes = bytes;
        add(std::move(c));
      }
      if (case_.collective->root != 0) {
        Case c = case_;
        c.collective->root = 0;
        add(std::move(c));
      }
      if (case_.collective->op != "all_gather" && case_.collective->op != "reduce_scatter") {
        Case c = case_;
        c.collective->op =
            rooted(c.collective->op) && c.collective->op != "broadcast" ? "broadcast" : "all_gather";
        add(std::move(c));
      }
    }
    if (!case_.job) return;
    for (size_t i = 0; i < case_.job->works.size(); ++i) {
      for (const uint64_t amount : lower(case_.job->works[i].amount)) {
        Case c = case_;
        c.job->works[i].amount = amount;
        add(std::move(c));
      }
    }
  }

  void choices() {
    for (const auto& [name, value] : case_.choices) {
      for (const uint64_t to : {uint64_t{0}, uint64_t{1}, value / 2}) {
        if (to >= value) continue;
        Case c = case_;
        c.choices[name] = to;
        add(std::move(c));
      }
    }
  }

  const Case& case_;
  std::vector<Case> out_;
};

}  // namespace

std::vector<Case> simpler(const Case& c) {
  return Steps(c).all();
}

}  // namespace weft::relations
