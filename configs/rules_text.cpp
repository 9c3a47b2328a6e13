// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/rules_text.h"

#include <fmt/format.h>

#include "configs/units.h"

namespace weft {
namespace {

/// Parts with something between them; empty ones are left out.
class Parts {
 public:
  explicit Parts(const char* between) : between_(between) {}
  void add(const std::string& part) {
    if (!part.empty()) text_ += (text_.empty() ? "" : between_) + part;
  }
  void condition(const char* key, const std::string& value) {
    if (!value.empty()) add(fmt::format("{} `{}`", key, value));
  }
  const std::string& text() const { return text_; }

 private:
  const std::string between_;
  std::string text_;
};

}  // namespace

std::string conditions_text(const CollectiveRule& rule) {
  Parts parts(", ");
  parts.condition("group", rule.group);
  parts.condition("name", rule.name);
  parts.condition("operation", rule.operation ? to_string(*rule.operation) : "");
  parts.condition("min_bytes", rule.min_bytes ? std::to_string(*rule.min_bytes) : "");
  parts.condition("max_bytes", rule.max_bytes ? std::to_string(*rule.max_bytes) : "");
  parts.condition("iteration", rule.iteration ? std::to_string(*rule.iteration) : "");
  parts.condition("occurrence", rule.occurrence ? std::to_string(*rule.occurrence) : "");
  return parts.text();
}

std::string conditions_text(const FidelityRule& rule) {
  Parts parts(", ");
  parts.condition("name", rule.name);
  parts.condition("group", rule.group);
  parts.condition("operation", rule.operation        ? to_string(*rule.operation)
                               : rule.point_to_point ? "point_to_point"
                                                     : "");
  parts.condition("iteration", rule.iteration ? std::to_string(*rule.iteration) : "");
  parts.condition("from", rule.from == 0 ? "" : print_time(rule.from));
  parts.condition("to", rule.to == kNever ? "" : print_time(rule.to));
  return parts.text();
}

std::string settings_text(const CollectiveRule& rule) {
  Parts parts("; ");
  Parts names(", ");
  for (const std::string& name : rule.algorithms) names.add(name.empty() ? "default" : name);
  if (!names.text().empty()) parts.add("algorithms " + names.text());
  if (rule.order) parts.add(fmt::format("{} order", to_string(*rule.order)));
  if (rule.chunks)
    parts.add(*rule.chunks == kAutoChunks
                  ? std::string("chunks auto")
                  : fmt::format("{} chunk{}", *rule.chunks, *rule.chunks == 1 ? "" : "s"));
  if (rule.priority) parts.add(fmt::format("priority {}", *rule.priority));
  if (rule.delay) parts.add("delay " + print_time(*rule.delay));
  return parts.text().empty() ? "the general settings" : parts.text();
}

std::string settings_text(const FidelityRule& rule) {
  Parts dimensions(", ");
  for (const uint32_t d : rule.dimensions) dimensions.add(std::to_string(d));
  return fmt::format("{} fidelity in {}", to_string(rule.fidelity),
                     rule.dimensions.empty()       ? std::string("all dimensions")
                     : rule.dimensions.size() == 1 ? "dimension " + dimensions.text()
                                                   : "dimensions " + dimensions.text());
}

}  // namespace weft
