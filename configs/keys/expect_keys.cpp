// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys of what results must be.

#include "configs/expectation.h"
#include "configs/keys/key_table.h"

namespace weft {
namespace {

std::vector<Choice> metric_choices() {
  std::vector<Choice> choices;
  for (const Metric& metric : metrics()) choices.push_back({metric.name, true, metric.description});
  return choices;
}

constexpr KeyRow kExpectKeys[] = {
    {"name", Type::text, "\"\"", kAny, field_if_set<&ExpectConfig::name>,
     "Name of the check. Empty: metric and rows."},
    {"job", Type::text, "\"\"", kAny, field_if_set<&ExpectConfig::job>,
     "Pattern of names of `jobs`: the check is of theirs. Empty: of all jobs, and of the machine for "
     "`time`."},
    {"metric", Type::choice, kRequired, one_of(metric_choices), field<&ExpectConfig::metric>,
     "The figure that is compared."},
    {"of", Type::text, "\"\"", kAny, field_if_set<&ExpectConfig::of>,
     "Pattern of the rows that have the figure: ranks (`rank[0-3]`), collectives (an operation, or the name "
     "of the trace node), links (as in links.csv), layers. `*`, `?`, `[0-3]` and `{a,b}` are wildcards; "
     "commas separate patterns. Empty: all rows."},
    {"statistic", Type::choice, "every",
     one_of({{"every", "each row must be within the bounds"},
             {"min", "the smallest row"},
             {"mean", "the rows' mean"},
             {"p50", "the median: of n rows, the ceil(n/2)-th smallest"},
             {"p90", ".. the ceil(0.9 n)-th"},
             {"p99", ".. the ceil(0.99 n)-th"},
             {"max", "the largest row"}}),
     field_if_set<&ExpectConfig::statistic>, "How the rows' figures become one that is compared."},
    {"at_most", Type::text, kOptional, kAny, field<&ExpectConfig::at_most>,
     "Upper bound, with the metric's unit: a time, a bandwidth, a size, a number, or a share of the run's "
     "time "
     "(`40 %`)."},
    {"at_least", Type::text, kOptional, kAny, field<&ExpectConfig::at_least>, "Lower bound."},
    {"equals", Type::text, kOptional, kAny, field<&ExpectConfig::equals>,
     "What the figure must be, in place of bounds."},
    {"tolerance", Type::text, kOptional, kAny, field<&ExpectConfig::tolerance>,
     "Part of a bound by which it may be missed: `2 %`. Default: 0, and a billionth for `equals`, which is "
     "what "
     "decimals of files lose."},
};

}  // namespace

void add_expect_keys(KeyTable& table) {
  table.add("expect[]", kExpectKeys);
}

}  // namespace weft
