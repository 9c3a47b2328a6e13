// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/expect/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "configs/keys.h"
#include "sc_main/decimal.h"
#include "sc_main/results.h"
#include "sc_main/sweep/point_result.h"
#include "sc_main/sweep/quantity.h"

namespace weft::cli {
namespace {

/// What decimals of files lose.
constexpr double kRounding = 1e-9;
/// Names that are looked through for one near a pattern that selects nothing.
constexpr size_t kMostOthers = 5000;

std::string print_figure(Measure measure, double value) {
  switch (measure) {
    case Measure::time:
      return readable_time(static_cast<Picoseconds>(std::llround(value)));
    case Measure::share:
      return fmt::format("{:.4g} %", value * 100);
    case Measure::bandwidth:
      return fmt::format("{:.4g} GB/s", value / 1e9);
    case Measure::size:
      return readable_size(static_cast<uint64_t>(std::llround(value)));
    case Measure::number:
      return fmt::format("{:.6g}", value);
  }
  return "";
}

std::string print_bounds(const Expectation& e) {
  const auto print = [](const Bound& bound) { return print_figure(bound.measure, bound.value); };
  std::string text;
  if (e.at_least) text = ">= " + print(*e.at_least);
  if (e.at_most) text += (text.empty() ? "<= " : ", <= ") + print(*e.at_most);
  if (e.equals) text = "= " + print(*e.equals);
  return e.tolerance == 0 ? text : fmt::format("{} +- {:.4g} %", text, e.tolerance * 100);
}

/// How far a figure is outside the bounds, as a part of the bound; at most 0: it is within.
double excess(const Expectation& e, double value) {
  const auto part = [](double by, double bound) {
    return bound == 0 ? (by > 0 ? HUGE_VAL : by) : by / bound;
  };
  double worst = -HUGE_VAL;
  if (e.at_most) {
    const double b = e.at_most->value;
    worst = std::max(worst, part(value - b * (1 + e.tolerance), b));
  }
  if (e.at_least) {
    const double b = e.at_least->value;
    worst = std::max(worst, part(b * (1 - e.tolerance) - value, b));
  }
  if (e.equals) {
    const double b = e.equals->value;
    worst = std::max(worst, part(std::fabs(value - b) - b * std::max(e.tolerance, kRounding), b));
  }
  return worst;
}

/// The ceil(part n)-th smallest of n.
size_t place_of(Statistic statistic, size_t n) {
  const auto place = [n](size_t percent) { return (n * percent + 99) / 100 - 1; };
  switch (statistic) {
    case Statistic::min:
      return 0;
    case Statistic::p50:
      return place(50);
    case Statistic::p90:
      return place(90);
    case Statistic::p99:
      return place(99);
    default:
      return n - 1;
  }
}

const char* rows_text(MetricRows rows) {
  switch (rows) {
    case MetricRows::ranks:
      return "rank";
    case MetricRows::collectives:
      return "finished collective";
    case MetricRows::links:
      return "link";
    case MetricRows::layers:
      return "layer";
    default:
      return "number";
  }
}

std::optional<double> number_in(const std::string& summary, const std::string& path) {
  for (const auto& [name, text] : sweep::flatten_json(summary))
    if (name == path) return sweep::quantity(text);
  return std::nullopt;
}

/// A link's name without the machine's: "nmu0.d0_to1".
std::string_view short_name(const std::string& name) {
  const size_t dot = name.find('.');
  return dot == name.npos ? std::string_view(name) : std::string_view(name).substr(dot + 1);
}

bool is_metric(const Expectation& e, const char* name) {
  return std::string_view(e.metric->name) == name;
}

}  // namespace

Checks::Checks(const Config& config) {
  for (const ExpectConfig& written : config.expect) {
    Entry entry;
    try {
      entry.expectation = read_expectation(written);
      if (!written.of.empty() && entry.expectation.metric->rows != MetricRows::summary)
        entry.rows = vcd::Glob(written.of);
      if (!written.job.empty()) {
        // Not when the file is loaded: `--job` brings jobs later.
        if (config.jobs.empty())
          throw UserError(ExitCode::usage, "`job`: there are no `jobs`; take the key out");
        entry.jobs = vcd::Glob(written.job);
      }
    } catch (const std::exception& e) {
      throw UserError(ExitCode::usage, fmt::format("{}: {}", written.origin, e.what()));
    }
    entry.of = written.of;
    entry.origin = written.origin;
    entry.job = written.job;
    entries_.push_back(std::move(entry));
  }
}

std::vector<Checks::Figure> Checks::figures(Entry& entry, const CheckedResults& results, bool whole_machine,
                                            std::vector<std::string>& others) const {
  const Expectation& e = entry.expectation;
  const RunResult& r = results.result;
  std::vector<Figure> list;
  const std::string prefix = results.job.empty() ? "" : results.job + ": ";
  const auto add = [&](const std::string& name, std::initializer_list<std::string_view> also,
                       const std::function<double()>& value) {
    bool selected = entry.of.empty() || entry.rows.matches(name);
    for (const std::string_view other : also) selected = selected || entry.rows.matches(other);
    if (selected) list.push_back({prefix + name, value()});
    if (selected || others.size() >= kMostOthers) return;
    others.push_back(name);
    others.insert(others.end(), also.begin(), also.end());
  };
  const bool in_time = e.measure() == Measure::time;
  const auto of_run = [&](Picoseconds time) {
    if (in_time) return static_cast<double>(time);
    return r.time == 0 ? 0 : static_cast<double>(time) / static_cast<double>(r.time);
  };
  switch (e.metric->rows) {
    case MetricRows::run:
      list.push_back({results.job, static_cast<double>(r.time)});
      break;
    case MetricRows::summary:
      if (const auto number = number_in(results.summary(), entry.of))
        list.push_back({prefix + entry.of, *number});
      break;
    case MetricRows::ranks:
      if (is_metric(e, "footprint")) {
        for (const FootprintRow& row : r.footprint)
          add(fmt::format("rank{}", row.rank), {}, [&] { return static_cast<double>(row.peak_bytes); });
        break;
      }
      for (const RankRow& row : r.ranks)
        add(fmt::format("rank{}", row.rank), {}, [&] {
          return of_run(is_metric(e, "compute")                 ? row.time.compute
                        : is_metric(e, "exposed_communication") ? row.time.communication
                        : is_metric(e, "exposed_local_memory")  ? row.time.local_memory
                        : is_metric(e, "exposed_remote_memory") ? row.time.remote_memory
                                                                : row.time.idle);
        });
      break;
    case MetricRows::collectives:
      for (const CollectiveRow& row : r.collectives) {
        if (!complete(row)) continue;
        add(row.name.empty() ? to_string(row.op) : row.name.str(), {to_string(row.op)}, [&] {
          return is_metric(e, "collective_time")       ? static_cast<double>(row.time())
                 : is_metric(e, "bus_bandwidth")       ? row.bus_bandwidth()
                 : is_metric(e, "algorithm_bandwidth") ? row.algorithm_bandwidth()
                                                       : row.efficiency();
        });
      }
      break;
    case MetricRows::links:
      if (!whole_machine) break;
      for (const LinkRow& row : r.links)
        add(row.name, {short_name(row.name)}, [&] {
          if (is_metric(e, "link_bytes")) return static_cast<double>(row.bytes);
          if (is_metric(e, "link_utilisation")) return of_run(row.busy);
          return row.messages == 0 ? 0 : static_cast<double>(row.queued) / static_cast<double>(row.messages);
        });
      break;
    case MetricRows::layers:
      for (const LayerRow& row : r.layers)
        add(row.layer, {}, [&] {
          const Wide sum = is_metric(e, "layer_compute") ? row.compute : row.communication;
          return row.ranks == 0 ? 0 : static_cast<double>(sum) / row.ranks;
        });
      break;
  }
  return list;
}

CheckOutcome Checks::compare(Entry& entry, const CheckedResults& machine,
                             const std::vector<CheckedResults>& jobs) {
  const Expectation& e = entry.expectation;
  CheckOutcome outcome;
  outcome.name = e.name;
  outcome.origin = entry.origin;
  outcome.bound = print_bounds(e);
  std::vector<std::string> others;
  std::vector<Figure> list;
  bool finished = true;
  const MetricRows rows = e.metric->rows;
  const bool of_machine = rows == MetricRows::links ||
                          (entry.job.empty() && (rows == MetricRows::run || rows == MetricRows::summary));
  if (of_machine) {
    list = figures(entry, machine, true, others);
    finished = machine.finished;
  } else {
    bool any = false;
    for (const CheckedResults& job : jobs) {
      if (!entry.job.empty() && !entry.jobs.matches(job.job)) continue;
      any = true;
      for (Figure& figure : figures(entry, job, false, others)) list.push_back(std::move(figure));
      finished = finished && job.finished;
    }
    if (!any) {
      outcome.reason = fmt::format("no job is called '{}'; there are", entry.job);
      for (const CheckedResults& job : jobs) outcome.reason += " " + job.job;
      return outcome;
    }
  }
  outcome.rows = list.size();
  if (!finished) {
    outcome.reason = "the run did not finish";
    return outcome;
  }
  if (list.empty()) {
    outcome.reason = entry.of.empty() ? fmt::format("the results have no {}", rows_text(rows))
                                      : fmt::format("no {} is called '{}'", rows_text(rows), entry.of);
    if (is_metric(e, "footprint")) outcome.reason += ": no tensors were followed (key `run.footprint`)";
    const std::string near = nearest_name(entry.of, others);
    if (!near.empty()) outcome.reason += fmt::format("; near: {}", near);
    return outcome;
  }
  double value = 0;
  if (e.statistic == Statistic::mean) {
    for (const Figure& figure : list) value += figure.value / static_cast<double>(list.size());
  } else {
    const auto key = [&](const Figure& f) {
      return e.statistic == Statistic::every ? excess(e, f.value) : f.value;
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Figure& a, const Figure& b) { return key(a) < key(b); });
    const Figure& figure = list[place_of(e.statistic, list.size())];
    value = figure.value;
    outcome.row = figure.row;
  }
  outcome.figure = print_figure(e.measure(), value);
  const double over = excess(e, value);
  outcome.met = over <= 0;
  if (!outcome.met)
    outcome.reason =
        fmt::format("{}{}{} is outside {}{}", outcome.figure,
                    outcome.row.empty() || rows == MetricRows::run ? "" : " of " + outcome.row,
                    e.statistic == Statistic::every && list.size() > 1 ? ", the worst row," : "",
                    outcome.bound, std::isfinite(over) ? fmt::format(" by {:.3g} % of it", over * 100) : "");
  return outcome;
}

std::vector<CheckOutcome> Checks::compare(const CheckedResults& machine,
                                          const std::vector<CheckedResults>& jobs) {
  std::vector<CheckOutcome> outcomes;
  for (Entry& entry : entries_) outcomes.push_back(compare(entry, machine, jobs));
  return outcomes;
}

bool all_met(const std::vector<CheckOutcome>& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const CheckOutcome& o) { return o.met; });
}

}  // namespace weft::cli
