// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The errors of a configuration: all of a stage are collected and reported at once.

#ifndef WEFT_CONFIGS_LOADING_ERRORS_H
#define WEFT_CONFIGS_LOADING_ERRORS_H

#include <set>
#include <string>
#include <vector>

namespace weft::loading {

/// Throws UserError(usage).
[[noreturn]] void fail(const std::string& message);

class Errors {
 public:
  void add(const std::string& origin, const std::string& key, const std::string& what);
  bool empty() const { return lines_.empty(); }
  /// Throws UserError(usage) if there are any: a line each, but not too many.
  void check() const;

 private:
  std::vector<std::string> lines_;
  std::set<std::string> seen_;
};

}  // namespace weft::loading

#endif
