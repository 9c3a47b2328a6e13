// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/natural_order.h"

namespace weft {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    size_t ends[2] = {i, j};
    while (ends[0] < a.size() && digit(a[ends[0]])) ++ends[0];
    while (ends[1] < b.size() && digit(b[ends[1]])) ++ends[1];
    while (i + 1 < ends[0] && a[i] == '0') ++i;
    while (j + 1 < ends[1] && b[j] == '0') ++j;
    if (ends[0] - i != ends[1] - j) return ends[0] - i < ends[1] - j;
    const int order = a.compare(i, ends[0] - i, b, j, ends[1] - j);
    if (order != 0) return order < 0;
    i = ends[0];
    j = ends[1];
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace weft
