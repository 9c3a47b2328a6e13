// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Formulas over the columns of a sweep: "0.5 * memory.pool.groups + 2 GB/s".
//
//   numbers      1, 0.5, 1e9, and with a unit: 64 KiB, 100 GB/s, 2 us, 3 TFLOPS
//   texts        'ring', "ring"
//   names        of columns and keys: time_ns, topology.dimensions[0].latency
//   other names  in backquotes: `a-b c`
//   operators    || && (== = !=) (< <= > >=) (+ -) (* / %) -x !x ^
//                the last binds most, and from the right
//   functions    min max abs floor ceil round sqrt exp ln log2 log10 if(condition, then, else)
//   over points  lowest(x) and highest(x): of all points that have not failed
//
// A quantity counts in bytes, nanoseconds, bytes per second or FLOP per second. Conditions are 1 or 0.

#ifndef WEFT_SC_MAIN_SWEEP_EXPRESSION_H
#define WEFT_SC_MAIN_SWEEP_EXPRESSION_H

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sweep {

/// What a name or an expression is in one point. Empty text and no number: there is no value.
struct Cell {
  std::optional<double> number;
  std::string text;  ///< as it is shown

  bool empty() const { return !number && text.empty(); }
  /// A text of a result or a configuration, which is a number if it reads as one.
  static Cell of(std::string text);
  static Cell of(double value);
};

struct Aggregate;

class Expression {
 public:
  /// Errors: UserError(usage) with the text, the place and what is wrong.
  explicit Expression(std::string_view text);
  Expression(const Expression& other);
  Expression(Expression&& other) noexcept;
  Expression& operator=(const Expression& other);
  Expression& operator=(Expression&& other) noexcept;
  ~Expression();

  const std::string& text() const { return text_; }
  /// Every name of it once, in the order of the text; those of aggregates too.
  const std::vector<std::string>& names() const { return names_; }
  /// What it asks of all points; they hold no further ones.
  const std::vector<Aggregate>& aggregates() const { return aggregates_; }
  /// `values`: of names(), in that order; `over_points`: of aggregates(). The result is empty where a value
  /// that is needed is empty, where a text stands in place of a number, and where the result is no finite
  /// number.
  Cell evaluate(const std::vector<Cell>& values, const std::vector<Cell>& over_points = {}) const;

 private:
  friend class ExpressionParser;
  enum class Kind { number, text, name, aggregate, call };
  struct Node {
    Kind kind;
    double number = 0;
    std::string text;               ///< of a text; the operator or function of a call
    size_t name = 0;                ///< in names_ or aggregates_
    std::vector<size_t> arguments;  ///< in nodes_
  };

  Cell evaluate(size_t node, const std::vector<Cell>& values, const std::vector<Cell>& over_points) const;

  std::string text_;
  std::vector<Node> nodes_;
  std::vector<std::string> names_;
  std::vector<Aggregate> aggregates_;
  size_t root_ = 0;
};

/// The lowest or the highest value of an expression.
struct Aggregate {
  bool lowest;
  Expression of;
};

}  // namespace weft::sweep

#endif
