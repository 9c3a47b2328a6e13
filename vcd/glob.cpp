// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/glob.h"

#include <algorithm>

#include "fmt/format.h"

namespace weft::vcd {
namespace {

constexpr size_t kMaxExpanded = 4096;
constexpr size_t kMaxNesting = 64;

[[noreturn]] void fail(std::string_view pattern, const std::string& problem) {
  throw GlobError(fmt::format("signal selection '{}': {}", pattern, problem));
}

/// The end of a bracket that opens at `open`: the position of its ']'. A ']' right after the opening (or
/// after
/// '!') is a member, as in the shell.
size_t closing_bracket(std::string_view text, size_t open) {
  size_t i = open + 1;
  if (i < text.size() && text[i] == '!') ++i;
  if (i < text.size() && text[i] == ']') ++i;
  while (i < text.size() && text[i] != ']') ++i;
  return i < text.size() ? i : std::string_view::npos;
}

/// Splits at commas that stand outside braces and brackets.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      const size_t end = closing_bracket(text, i);
      if (end == std::string_view::npos)
        fail(text, fmt::format("'[' at character {} is never closed with ']'", i + 1));
      parts.back().append(text.substr(i, end - i + 1));
      i = end;
      continue;
    }
    if (c == '{' && ++depth > kMaxNesting) fail(text, fmt::format("braces nest deeper than {}", kMaxNesting));
    if (c == '}') {
      if (depth == 0) fail(text, fmt::format("'}}' at character {} has no '{{' before it", i + 1));
      --depth;
    }
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  if (depth != 0) fail(text, "'{' is never closed with '}'");
  return parts;
}

/// All texts that the braces of a balanced `text` stand for.
std::vector<std::string> expand(std::string_view text, std::string_view whole) {
  std::vector<std::string> done(1);
  for (size_t i = 0; i < text.size(); ++i) {
    std::vector<std::string> choices;
    if (text[i] == '{') {
      size_t depth = 1;
      size_t end = i + 1;
      for (; depth != 0; ++end) {
        if (text[end] == '[') {
          end = closing_bracket(text, end);
        } else if (text[end] == '{') {
          ++depth;
        } else if (text[end] == '}') {
          --depth;
        }
      }
      for (const std::string& choice : split(text.substr(i + 1, end - i - 2))) {
        for (std::string& one : expand(choice, whole)) choices.push_back(std::move(one));
      }
      i = end - 1;
    } else if (text[i] == '[') {
      const size_t end = closing_bracket(text, i);
      choices.emplace_back(text.substr(i, end - i + 1));
      i = end;
    } else {
      choices.emplace_back(1, text[i]);
    }
    if (choices.size() == 1) {
      for (std::string& d : done) d += choices.front();
      continue;
    }
    if (done.size() * choices.size() > kMaxExpanded) {
      fail(whole, fmt::format("its braces stand for more than {} patterns; write it shorter with * or ?",
                              kMaxExpanded));
    }
    std::vector<std::string> next;
    next.reserve(done.size() * choices.size());
    for (const std::string& d : done) {
      for (const std::string& c : choices) next.push_back(d + c);
    }
    done = std::move(next);
  }
  return done;
}

/// Whether the element of `pattern` at `p` (not '*') accepts `c`; `p` moves behind the element.
bool accepts(std::string_view pattern, size_t& p, char c) {
  if (pattern[p] == '?') {
    ++p;
    return c != '.';
  }
  if (pattern[p] != '[') return pattern[p++] == c;
  const size_t end = closing_bracket(pattern, p);
  size_t i = p + 1;
  const bool negated = pattern[i] == '!';
  if (negated) ++i;
  bool member = false;
  while (i < end) {
    if (i + 2 < end && pattern[i + 1] == '-') {
      member = member || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 3;
    } else {
      member = member || pattern[i] == c;
      ++i;
    }
  }
  p = end + 1;
  return member != negated && !(negated && c == '.');
}

/// Where what follows a '*' can begin, at `n` or later: `rest` is the pattern behind the '*'. npos: nowhere.
size_t next_begin(std::string_view rest, std::string_view name, size_t n) {
  if (rest.front() == '?' || rest.front() == '[') return n;
  return name.find(rest.front(), n);
}

/// Matches without braces. Only the last '*' is ever retried, so the cost is at most length x length. A
/// pattern that ends at a dot of the name has matched a scope.
bool match(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (true) {
    if (p == pattern.size() && (n == name.size() || name[n] == '.')) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      while (p < pattern.size() && pattern[p] == '*') ++p;
      if (p == pattern.size()) return true;
      star = p;
      resume = n = next_begin(pattern.substr(star), name, n);
      if (n == std::string_view::npos) return false;
      continue;
    }
    if (n < name.size() && p < pattern.size()) {
      size_t next = p;
      if (accepts(pattern, next, name[n])) {
        p = next;
        ++n;
        continue;
      }
    }
    if (star == std::string_view::npos || resume >= name.size()) return false;
    p = star;
    resume = n = next_begin(pattern.substr(star), name, resume + 1);
    if (n == std::string_view::npos) return false;
  }
}

}  // namespace

Glob::Glob(std::string_view patterns) {
  if (patterns.empty()) return;
  for (std::string& text : split(patterns)) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) fail(patterns, "an empty pattern; remove the extra comma");
    text = text.substr(first, text.find_last_not_of(" \t") - first + 1);
    Pattern pattern;
    pattern.expanded = expand(text, text);
    pattern.text = std::move(text);
    patterns_.push_back(std::move(pattern));
  }
}

bool Glob::matches(std::string_view name) {
  bool any = false;
  for (Pattern& pattern : patterns_) {
    if (any && pattern.used) continue;
    const bool hit = std::any_of(pattern.expanded.begin(), pattern.expanded.end(),
                                 [name](const std::string& text) { return match(text, name); });
    pattern.used = pattern.used || hit;
    any = any || hit;
  }
  return any;
}

std::vector<std::string> Glob::unmatched() const {
  std::vector<std::string> texts;
  for (const Pattern& pattern : patterns_) {
    if (!pattern.used) texts.push_back(pattern.text);
  }
  return texts;
}

}  // namespace weft::vcd
