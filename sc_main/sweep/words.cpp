// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/words.h"

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::sweep {
namespace {

constexpr std::string_view kOpening = "([{";
constexpr std::string_view kClosing = ")]}";

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_outside(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  std::string open;  // the closing brackets that are awaited
  char quote = '\0';
  const auto fail = [](const std::string& what) { throw UserError(ExitCode::usage, what); };
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (const size_t bracket = kOpening.find(c); bracket != kOpening.npos) {
      open += kClosing[bracket];
    } else if (kClosing.find(c) != kClosing.npos) {
      if (open.empty() || open.back() != c)
        fail(fmt::format("`{}` closes nothing; put the value in quotes", c));
      open.pop_back();
    } else if (c == separator && open.empty()) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  if (quote != '\0') fail(fmt::format("the quote {} is not closed", quote));
  if (!open.empty()) fail(fmt::format("`{}` is missing", open.back()));
  return parts;
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') || text.back() != text.front())
    return std::string(text);
  const char quote = text.front();
  const std::string_view inside = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == quote) {
      if (i + 1 == inside.size() || inside[i + 1] != quote) return std::string(text);  // several quoted parts
      ++i;
    }
    out += inside[i];
  }
  return out;
}

std::string shortened(std::string_view text) {
  constexpr size_t kMost = 120;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "..";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace weft::sweep
