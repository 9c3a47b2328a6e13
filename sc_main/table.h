// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_TABLE_H
#define WEFT_SC_MAIN_TABLE_H

#include <string>
#include <vector>

namespace weft::cli {

/// Columns of text: the first is aligned to the left, all others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { row(std::move(head)); }
  /// Control characters in a cell become `?`: names come from files, and a row is one line.
  void row(std::vector<std::string> cells);
  /// Every line begins with `indent` blanks.
  std::string str(int indent = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weft::cli

#endif
