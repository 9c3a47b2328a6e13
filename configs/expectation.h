// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an entry of `expect` asks for: which figure of a run, of which rows, and its bounds.

#ifndef WEFT_CONFIGS_EXPECTATION_H
#define WEFT_CONFIGS_EXPECTATION_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"

namespace weft {

/// What a figure is counted in. A share is a part of the run's time, from 0 to 1.
enum class Measure : uint8_t { time, share, bandwidth, size, number };

/// The rows of a run's results that have a figure each.
enum class MetricRows : uint8_t { run, ranks, collectives, links, layers, summary };

/// A figure that runs have.
struct Metric {
  const char* name;
  MetricRows rows;
  Measure measure;
  bool also_time;  ///< a share whose bounds may be times, too
  const char* description;
};

const std::vector<Metric>& metrics();
/// Null: there is none of that name.
const Metric* find_metric(std::string_view name);

/// How the rows' figures become one. `every`: each row's own is compared.
enum class Statistic : uint8_t { every, min, mean, p50, p90, p99, max };
const char* to_string(Statistic statistic);

/// A bound as it is compared: ps, a share, B/s, bytes or a number.
struct Bound {
  Measure measure = Measure::number;
  double value = 0;
};

/// An entry of `expect`, read.
struct Expectation {
  std::string name;  ///< for people; never empty
  const Metric* metric = nullptr;
  Statistic statistic = Statistic::every;
  std::optional<Bound> at_most, at_least, equals;
  double tolerance = 0;  ///< a part of the bound
  /// What the bounds are in; all have the same.
  Measure measure() const;
};

/// Errors: UserError(usage) says which key of the entry is wrong, and what is allowed.
Expectation read_expectation(const ExpectConfig& entry);

/// "40 %" or "0.4". Errors: UserError(usage).
double parse_share(std::string_view text);

}  // namespace weft

#endif
