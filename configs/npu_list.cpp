// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/npu_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configs/types.h"
#include "configs/units.h"

namespace weft {

std::vector<uint32_t> expand_npus(const std::vector<std::string>& items, uint32_t npus) {
  std::vector<uint32_t> list;
  std::vector<uint32_t> rank_of(npus, ~0u);
  for (const std::string& item : items) {
    const size_t dots = item.find("..");
    const uint64_t first = parse_integer(item.substr(0, dots));
    const uint64_t last = dots == std::string::npos ? first : parse_integer(item.substr(dots + 2));
    if (first >= npus || last >= npus)
      throw UserError(ExitCode::usage, fmt::format("'{}' names an NPU that does not exist", item));
    for (uint64_t i = first;; i = first <= last ? i + 1 : i - 1) {
      const auto rank = static_cast<uint32_t>(list.size());
      if (rank_of[i] != ~0u)
        throw UserError(ExitCode::usage,
                        fmt::format("NPU {} is given to rank {} and to rank {}", i, rank_of[i], rank));
      rank_of[i] = rank;
      list.push_back(static_cast<uint32_t>(i));
      if (i == last) break;
    }
  }
  return list;
}

std::vector<std::string> npu_items(const std::vector<uint32_t>& npus) {
  std::vector<std::string> items;
  for (size_t i = 0; i < npus.size();) {
    size_t j = i + 1;
    while (j < npus.size() && npus[j] == npus[i] + (j - i)) ++j;
    if (j - i > 2) {
      items.push_back(fmt::format("{}..{}", npus[i], npus[j - 1]));
    } else {
      items.push_back(std::to_string(npus[i]));
      j = i + 1;
    }
    i = j;
  }
  return items;
}

std::string print_npus(const std::vector<uint32_t>& npus) {
  return fmt::format("[{}]", fmt::join(npu_items(npus), ", "));
}

}  // namespace weft
