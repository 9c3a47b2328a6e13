// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/expectations.h"

#include <fmt/format.h>

#include <utility>

#include "configs/expectation.h"
#include "configs/keys.h"

namespace weft::loading {

void resolve_expectations(Config& config, const RawConfig& raw, Errors& errors) {
  const RawConfig::Rules& list = raw.expect;
  for (size_t i = 0; i < list.values.size(); ++i) {
    if (list.broken.count(i) != 0) continue;
    const std::string path = fmt::format("{}[{}]", kExpectPath, i);
    ExpectConfig entry;
    entry.origin = fmt::format("{}: key `{}`", list.origins[i], path);
    for (const auto& [key, written] : list.values[i]) key->set(entry, written.value);
    const KeySpec& metric = *find_key(std::string(kExpectPrefix) + "metric");
    if (list.values[i].count(&metric) == 0) {
      errors.add(list.origins[i], path + ".metric", "missing; add it: " + allowed_values(metric));
      continue;
    }
    try {
      read_expectation(entry);
    } catch (const UserError& e) {
      errors.add(list.origins[i], path, e.what());
    }
    config.expect.push_back(std::move(entry));
  }
}

}  // namespace weft::loading
