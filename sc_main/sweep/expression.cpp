// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "configs/keys.h"
#include "configs/types.h"
#include "sc_main/sweep/quantity.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

constexpr size_t kMostCharacters = 4000;
constexpr int kMostDepth = 200;

/// Functions of one number.
const std::map<std::string, double (*)(double), std::less<>>& unary_functions() {
  static const std::map<std::string, double (*)(double), std::less<>> all = {
      {"abs", [](double x) { return std::fabs(x); }},   {"floor", [](double x) { return std::floor(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},  {"round", [](double x) { return std::round(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},  {"exp", [](double x) { return std::exp(x); }},
      {"ln", [](double x) { return std::log(x); }},     {"log2", [](double x) { return std::log2(x); }},
      {"log10", [](double x) { return std::log10(x); }}};
  return all;
}

/// The least and the most arguments; nothing: no function of that name.
std::optional<std::pair<size_t, size_t>> arguments_of(const std::string& function) {
  if (unary_functions().count(function) != 0) return std::make_pair(size_t{1}, size_t{1});
  if (function == "if") return std::make_pair(size_t{3}, size_t{3});
  if (function == "min" || function == "max") return std::make_pair(size_t{1}, kMostCharacters);
  return std::nullopt;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names = {"highest", "if", "lowest", "max", "min"};
  for (const auto& [name, f] : unary_functions()) names.push_back(name);
  return names;
}

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

double apply(const std::string& op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return std::fmod(a, b);
  if (op == "^") return std::pow(a, b);
  if (op == "<") return a < b ? 1 : 0;
  if (op == "<=") return a <= b ? 1 : 0;
  if (op == ">") return a > b ? 1 : 0;
  return a >= b ? 1 : 0;
}

}  // namespace

Cell Cell::of(std::string text) {
  Cell cell;
  cell.number = quantity(text);
  cell.text = std::move(text);
  return cell;
}

Cell Cell::of(double value) {
  Cell cell;
  if (!std::isfinite(value)) return cell;
  cell.number = value;
  cell.text = number_text(value);
  return cell;
}

/// Recursive descent; one function a level of binding.
class ExpressionParser {
 public:
  explicit ExpressionParser(Expression& to) : to_(to), text_(to.text_) {}

  size_t parse() {
    if (text_.size() > kMostCharacters) fail(fmt::format("longer than {} characters", kMostCharacters));
    const size_t root = binary(0);
    blanks();
    if (at_ < text_.size()) fail(fmt::format("'{}' is not expected here", shortened(text_.substr(at_))));
    return root;
  }

 private:
  using Kind = Expression::Kind;

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(ExitCode::usage,
                    fmt::format("the expression '{}', character {}: {}", shortened(text_), at_ + 1, what));
  }

  void blanks() {
    while (at_ < text_.size() && trimmed(text_.substr(at_, 1)).empty()) ++at_;
  }

  bool take(std::string_view symbol) {
    blanks();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }

  size_t add(Expression::Node node) {
    to_.nodes_.push_back(std::move(node));
    return to_.nodes_.size() - 1;
  }
  size_t call(const std::string& what, std::vector<size_t> arguments) {
    return add({Kind::call, 0, what, 0, std::move(arguments)});
  }

  /// Operators of the level, each before those that it begins with.
  static const std::vector<std::string>& operators(size_t level) {
    static const std::vector<std::vector<std::string>> levels = {
        {"||"}, {"&&"}, {"==", "!=", "="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
    static const std::vector<std::string> none;
    return level < levels.size() ? levels[level] : none;
  }

  size_t binary(size_t level) {
    const Depth depth(*this);
    if (operators(level).empty()) return prefix();
    size_t left = binary(level + 1);
    while (true) {
      const auto& all = operators(level);
      const auto op = std::find_if(all.begin(), all.end(), [this](const std::string& o) { return take(o); });
      if (op == all.end()) return left;
      const size_t right = binary(level + 1);
      left = call(*op == "=" ? "==" : *op, {left, right});
    }
  }

  size_t prefix() {
    const Depth depth(*this);
    if (take("-")) return call("negative", {prefix()});
    if (take("!")) return call("not", {prefix()});
    const size_t base = primary();
    return take("^") ? call("^", {base, prefix()}) : base;
  }

  size_t primary() {
    blanks();
    if (at_ == text_.size()) fail("a value is missing at the end");
    const char c = text_[at_];
    if (take("(")) {
      const size_t inside = binary(0);
      if (!take(")")) fail("`)` is missing");
      return inside;
    }
    if (digit(c) || c == '.') return number();
    if (c == '\'' || c == '"') return add({Kind::text, 0, quoted(c), 0, {}});
    if (c == '`') return name(quoted('`'));
    if (!letter(c)) fail(fmt::format("'{}' is not expected here; a number, a name or `(` is", c));
    const std::string word = read_name();
    blanks();
    return at_ < text_.size() && text_[at_] == '(' ? function(word) : name(word);
  }

  size_t number() {
    size_t end = at_;
    while (end < text_.size() && (digit(text_[end]) || text_[end] == '.')) ++end;
    if (end + 1 < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t more = end + 1;
      if (text_[more] == '+' || text_[more] == '-') ++more;
      if (more < text_.size() && digit(text_[more])) {
        end = more;
        while (end < text_.size() && digit(text_[end])) ++end;
      }
    }
    const std::string digits(text_.substr(at_, end - at_));
    char* stop = nullptr;
    double value = std::strtod(digits.c_str(), &stop);
    if (*stop != '\0' || !std::isfinite(value)) fail(fmt::format("'{}' is not a number", shortened(digits)));
    at_ = end;
    blanks();
    const std::string_view unit = unit_at(text_.substr(at_));
    at_ += unit.size();
    if (!unit.empty()) value *= find_unit(unit)->scale;
    if (unit.empty() && at_ < text_.size() && letter(text_[at_]))
      fail(fmt::format("'{}' is not a unit; write * between a number and a name", read_name()));
    return add({Kind::number, value, "", 0, {}});
  }

  std::string quoted(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail(fmt::format("the quote {} is not closed", quote));
    std::string inside(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return inside;
  }

  /// Letters, digits, dots and indices in brackets.
  std::string read_name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) {
      ++at_;
      if (at_ >= text_.size() || text_[at_] != '[') continue;
      const size_t close = text_.find(']', at_);
      if (close == text_.npos) fail("`]` is missing");
      at_ = close + 1;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  size_t name(const std::string& word) {
    if (word.empty()) fail("the name is empty");
    auto& names = to_.names_;
    const auto it = std::find(names.begin(), names.end(), word);
    const auto index = static_cast<size_t>(it - names.begin());
    if (it == names.end()) names.push_back(word);
    return add({Kind::name, 0, "", index, {}});
  }

  size_t aggregate(const std::string& word) {
    take("(");
    if (in_aggregate_) fail(fmt::format("`{}` inside of another `lowest` or `highest`", word));
    in_aggregate_ = true;
    const size_t begin = at_;
    binary(0);  // its names are names of the whole
    const std::string inside(text_.substr(begin, at_ - begin));
    in_aggregate_ = false;
    if (!take(")")) fail("`)` is missing");
    to_.aggregates_.push_back({word == "lowest", Expression(inside)});
    return add({Kind::aggregate, 0, "", to_.aggregates_.size() - 1, {}});
  }

  size_t function(const std::string& word) {
    if (word == "lowest" || word == "highest") return aggregate(word);
    const auto wanted = arguments_of(word);
    if (!wanted) {
      const std::string near = nearest_name(word, function_names());
      fail(fmt::format("there is no function `{}`{}; one of {}", shortened(word),
                       near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near),
                       fmt::join(function_names(), ", ")));
    }
    take("(");
    std::vector<size_t> arguments;
    do arguments.push_back(binary(0));
    while (take(","));
    if (!take(")")) fail("`)` is missing");
    if (arguments.size() < wanted->first || arguments.size() > wanted->second)
      fail(fmt::format("`{}` takes {} arguments, not {}", word, wanted->first, arguments.size()));
    return call(word, std::move(arguments));
  }

  /// Bounds the recursion: an expression is a user's text.
  struct Depth {
    explicit Depth(ExpressionParser& of) : parser(of) {
      if (++parser.depth_ > kMostDepth * 8) parser.fail("nested too deep");
    }
    ~Depth() { --parser.depth_; }
    ExpressionParser& parser;
  };

  Expression& to_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool in_aggregate_ = false;
};

Expression::Expression(std::string_view text) : text_(trimmed(text)) {
  root_ = ExpressionParser(*this).parse();
}

Expression::Expression(const Expression& other) = default;
Expression::Expression(Expression&& other) noexcept = default;
Expression& Expression::operator=(const Expression& other) = default;
Expression& Expression::operator=(Expression&& other) noexcept = default;
Expression::~Expression() = default;

Cell Expression::evaluate(const std::vector<Cell>& values, const std::vector<Cell>& over_points) const {
  return evaluate(root_, values, over_points);
}

Cell Expression::evaluate(size_t index, const std::vector<Cell>& values,
                          const std::vector<Cell>& over_points) const {
  const Node& node = nodes_[index];
  if (node.kind == Kind::number) return Cell::of(node.number);
  if (node.kind == Kind::text) return Cell::of(node.text);
  if (node.kind == Kind::name) return node.name < values.size() ? values[node.name] : Cell();
  if (node.kind == Kind::aggregate) return node.name < over_points.size() ? over_points[node.name] : Cell();
  if (node.text == "if") {
    const Cell condition = evaluate(node.arguments[0], values, over_points);
    if (!condition.number) return {};
    return evaluate(node.arguments[*condition.number != 0 ? 1 : 2], values, over_points);
  }
  std::vector<Cell> cells;
  for (const size_t argument : node.arguments) {
    cells.push_back(evaluate(argument, values, over_points));
    if (cells.back().empty()) return {};
  }
  const bool numbers =
      std::all_of(cells.begin(), cells.end(), [](const Cell& c) { return c.number.has_value(); });
  if (node.text == "==" || node.text == "!=") {
    const bool same = numbers ? *cells[0].number == *cells[1].number : cells[0].text == cells[1].text;
    return Cell::of(same == (node.text == "==") ? 1.0 : 0.0);
  }
  if (!numbers) return {};
  const double a = *cells[0].number;
  if (node.text == "negative") return Cell::of(-a);
  if (node.text == "not") return Cell::of(a == 0 ? 1.0 : 0.0);
  if (node.text == "&&") return Cell::of(a != 0 && *cells[1].number != 0 ? 1.0 : 0.0);
  if (node.text == "||") return Cell::of(a != 0 || *cells[1].number != 0 ? 1.0 : 0.0);
  if (node.text == "min" || node.text == "max") {
    double best = a;
    for (const Cell& c : cells)
      best = node.text == "min" ? std::min(best, *c.number) : std::max(best, *c.number);
    return Cell::of(best);
  }
  if (const auto it = unary_functions().find(node.text); it != unary_functions().end())
    return Cell::of(it->second(a));
  return Cell::of(apply(node.text, a, *cells[1].number));
}

}  // namespace weft::sweep
