// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/types.h"

namespace weft::loading {
namespace {

constexpr size_t kMaxErrors = 50;

}  // namespace

void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

void Errors::add(const std::string& origin, const std::string& key, const std::string& what) {
  if (seen_.insert(origin + key + what).second)
    lines_.push_back(fmt::format("{}: key `{}`: {}", origin, key, what));
}

void Errors::check() const {
  if (lines_.empty()) return;
  std::vector<std::string> shown(
      lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(std::min(lines_.size(), kMaxErrors)));
  if (lines_.size() > kMaxErrors)
    shown.push_back(fmt::format("and {} more errors", lines_.size() - kMaxErrors));
  fail(fmt::format("{}", fmt::join(shown, "\n")));
}

}  // namespace weft::loading
