// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_GLOB_H
#define WEFT_VCD_GLOB_H

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::vcd {

/// A selection that cannot be read. `what()` gives the pattern, the place and the remedy.
class GlobError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A selection of hierarchical names: one or more patterns separated by commas, a name is selected if any
/// matches.
///
///     *          any characters, dots included (`**` is the same)
///     ?          one character that is not a dot
///     [0-3x]     one of these characters; [!0-3] one that is none of them
///     {a,b}      a or b; may be nested and may be empty
///
/// A pattern that matches a scope selects everything below it: `npu0` is `npu0.*` as well.
/// An empty selection selects nothing.
class Glob {
 public:
  Glob() = default;

  /// Throws GlobError for an empty pattern in a list, an unbalanced brace or bracket, or braces that multiply
  /// to more than 4,096 patterns.
  explicit Glob(std::string_view patterns);

  bool empty() const { return patterns_.empty(); }

  /// Whether any pattern selects `name`. Remembers which patterns ever did.
  bool matches(std::string_view name);

  /// The patterns as written that have selected no name so far: a misspelt name must not go unnoticed.
  std::vector<std::string> unmatched() const;

 private:
  struct Pattern {
    std::string text;                   ///< as written
    std::vector<std::string> expanded;  ///< without braces
    bool used = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace weft::vcd

#endif
