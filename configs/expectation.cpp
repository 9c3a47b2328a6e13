// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/expectation.h"

#include <fmt/format.h>

#include "configs/units.h"

namespace weft {
namespace {

[[noreturn]] void refuse(const char* key, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("`{}`: {}", key, what));
}

const char* example(const Metric& metric) {
  switch (metric.measure) {
    case Measure::time:
      return "a time, for example `1.2 ms`";
    case Measure::share:
      return metric.also_time ? "a share of the run's time or a time, for example `40 %` or `1.2 ms`"
                              : "a share, for example `40 %`";
    case Measure::bandwidth:
      return "a bandwidth, for example `80 GB/s`";
    case Measure::size:
      return "a size, for example `64 GiB`";
    case Measure::number:
      return "a number without a unit, for example `12`";
  }
  return "";
}

/// Null: the text is no value of the measure.
std::optional<double> value_of(Measure measure, const std::string& text) {
  try {
    switch (measure) {
      case Measure::time:
        return static_cast<double>(parse_time(text));
      case Measure::share:
        return parse_share(text);
      case Measure::bandwidth:
        return parse_bandwidth_value(text);
      case Measure::size:
        return static_cast<double>(parse_size(text));
      case Measure::number:
        return parse_number(text);
    }
  } catch (const UserError&) {
  }
  return std::nullopt;
}

std::optional<Bound> read_bound(const char* key, const std::optional<std::string>& text,
                                const Metric& metric) {
  if (!text) return std::nullopt;
  if (const auto value = value_of(metric.measure, *text)) return Bound{metric.measure, *value};
  if (metric.also_time)
    if (const auto value = value_of(Measure::time, *text)) return Bound{Measure::time, *value};
  refuse(key, fmt::format("'{}' is no bound of `{}`; allowed: {}", *text, metric.name, example(metric)));
}

std::string text_of(const Expectation& e, const ExpectConfig& entry) {
  std::string text = e.metric->name;
  if (e.statistic != Statistic::every) text = fmt::format("{} {}", to_string(e.statistic), text);
  return entry.of.empty() ? text : fmt::format("{} of {}", text, entry.of);
}

}  // namespace

const std::vector<Metric>& metrics() {
  using R = MetricRows;
  using M = Measure;
  static const std::vector<Metric> all = {
      {"time", R::run, M::time, false, "end-to-end time"},
      {"compute", R::ranks, M::share, true, "a rank's time in compute"},
      {"exposed_communication", R::ranks, M::share, true,
       "a rank's time in communication that nothing hides"},
      {"exposed_local_memory", R::ranks, M::share, true, "a rank's time in its HBM that nothing hides"},
      {"exposed_remote_memory", R::ranks, M::share, true,
       "a rank's time in remote memory that nothing hides"},
      {"idle", R::ranks, M::share, true, "a rank's time with nothing to do"},
      {"footprint", R::ranks, M::size, false, "most bytes that a rank's tensors take (`run.footprint`)"},
      {"collective_time", R::collectives, M::time, false, "a collective's time, first start to last end"},
      {"bus_bandwidth", R::collectives, M::bandwidth, false,
       "a collective's bus bandwidth, as nccl-tests has it"},
      {"algorithm_bandwidth", R::collectives, M::bandwidth, false, "a collective's bytes by its time"},
      {"efficiency", R::collectives, M::share, false, "a collective's lower bound by its time"},
      {"link_utilisation", R::links, M::share, true, "a link direction's busy time"},
      {"link_bytes", R::links, M::size, false, "bytes of a link direction"},
      {"link_queue", R::links, M::time, false, "mean time that a message waits for a link direction"},
      {"layer_compute", R::layers, M::time, false, "a layer's compute, mean of its ranks"},
      {"layer_communication", R::layers, M::time, false,
       "a layer's exposed communication, mean of its ranks"},
      {"summary", R::summary, M::number, false,
       "a number of summary.json; `of` is its path, as `links.pauses`"},
  };
  return all;
}

const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : metrics())
    if (metric.name == name) return &metric;
  return nullptr;
}

const char* to_string(Statistic statistic) {
  constexpr const char* kNames[] = {"every", "min", "mean", "p50", "p90", "p99", "max"};
  return kNames[static_cast<int>(statistic)];
}

double parse_share(std::string_view text) {
  const size_t percent = text.find('%');
  if (percent == text.npos) return parse_number(text);
  std::string_view number = text.substr(0, percent);
  while (!number.empty() && number.back() == ' ') number.remove_suffix(1);
  if (percent + 1 != text.size())
    throw UserError(ExitCode::usage, fmt::format("'{}' goes on after the percent sign", text));
  return parse_number(number) / 100;
}

Measure Expectation::measure() const {
  for (const auto* bound : {&at_most, &at_least, &equals})
    if (*bound) return (*bound)->measure;
  return metric->measure;
}

Expectation read_expectation(const ExpectConfig& entry) {
  Expectation e;
  e.metric = find_metric(entry.metric);
  if (e.metric == nullptr) refuse("metric", fmt::format("'{}' is no metric", entry.metric));
  for (const Statistic s : {Statistic::every, Statistic::min, Statistic::mean, Statistic::p50, Statistic::p90,
                            Statistic::p99, Statistic::max})
    if (entry.statistic == to_string(s)) e.statistic = s;
  e.at_most = read_bound("at_most", entry.at_most, *e.metric);
  e.at_least = read_bound("at_least", entry.at_least, *e.metric);
  e.equals = read_bound("equals", entry.equals, *e.metric);
  if (!e.at_most && !e.at_least && !e.equals)
    refuse("at_most",
           "there is no bound; add `at_most`, `at_least` or `equals`: " + std::string(example(*e.metric)));
  if (e.equals && (e.at_most || e.at_least))
    refuse("equals", "it stands beside `at_most` or `at_least`; take one of them out");
  if (e.at_most && e.at_least) {
    if (e.at_most->measure != e.at_least->measure)
      refuse("at_most", "it is a share and `at_least` is a time, or the other way round; write both alike");
    if (e.at_most->value < e.at_least->value) refuse("at_most", "it is below `at_least`: nothing meets both");
  }
  if (entry.tolerance) {
    const auto tolerance = value_of(Measure::share, *entry.tolerance);
    if (!tolerance || !(*tolerance < 1))
      refuse("tolerance", fmt::format("'{}' is no part of a bound; allowed: from `0 %` to below `100 %`",
                                      *entry.tolerance));
    e.tolerance = *tolerance;
  }
  const bool single = e.metric->rows == MetricRows::run;
  if (e.metric->rows == MetricRows::links && !entry.job.empty())
    refuse("job", "links are the machine's, whoever uses them; take the key out");
  if (single && !entry.of.empty())
    refuse("of", fmt::format("`{}` is one figure of the whole run; take the key out", e.metric->name));
  if (e.metric->rows == MetricRows::summary && entry.of.empty())
    refuse("of", "it is missing: the path of a number in summary.json, for example `links.pauses`");
  if (e.statistic != Statistic::every && (single || e.metric->rows == MetricRows::summary))
    refuse("statistic", fmt::format("`{}` is one figure; take the key out", e.metric->name));
  e.name = entry.name.empty() ? text_of(e, entry) : entry.name;
  return e;
}

}  // namespace weft
