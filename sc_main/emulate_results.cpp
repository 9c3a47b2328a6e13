// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/emulate_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/json_text.h"
#include "sc_main/results.h"

namespace weft::cli {
namespace {

/// Iterations of one name, the first of each rank left out.
struct IterationTimes {
  uint64_t count = 0;
  double mean = 0;       ///< ps
  double deviation = 0;  ///< ps
};

std::map<std::string, IterationTimes> iteration_times(const emulation::Report& report) {
  std::map<std::pair<uint32_t, std::string>, bool> seen;
  std::map<std::string, std::vector<double>> times;
  for (const emulation::IterationRow& row : report.iterations) {
    bool& again = seen[{row.rank, row.name}];
    if (again && row.end != kNever) times[row.name].push_back(static_cast<double>(row.end - row.begin));
    again = true;
  }
  std::map<std::string, IterationTimes> result;
  for (const auto& [name, list] : times) {
    IterationTimes& t = result[name];
    t.count = list.size();
    t.mean = std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(list.size());
    double squares = 0;
    for (const double time : list) squares += (time - t.mean) * (time - t.mean);
    t.deviation = std::sqrt(squares / static_cast<double>(list.size()));
  }
  return result;
}

std::string optional(int64_t value) {
  return value < 0 ? std::string() : std::to_string(value);
}

std::string calls_csv(const emulation::Report& report) {
  std::string out =
      "rank,call,kind,operation,name,communicator,sequence,peer,tag,bytes,issued_ns,finished_ns,time_ns,"
      "injected_ns\n";
  for (const emulation::CallRow& row : report.calls) {
    const bool over = row.finished != kNever;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.rank, row.number, row.call,
                       row.operation, csv_field(row.name), row.comm, optional(row.sequence),
                       optional(row.peer), optional(row.tag), row.bytes, nanoseconds(row.issued),
                       over ? nanoseconds(row.finished) : "",
                       over ? nanoseconds(row.finished - row.issued) : "", nanoseconds(row.injected));
  }
  return out;
}

std::string iterations_csv(const emulation::Report& report) {
  std::string out = "rank,name,number,begin_ns,end_ns,time_ns\n";
  for (const emulation::IterationRow& row : report.iterations) {
    const bool over = row.end != kNever;
    out +=
        fmt::format("{},{},{},{},{},{}\n", row.rank, csv_field(row.name), row.number, nanoseconds(row.begin),
                    over ? nanoseconds(row.end) : "", over ? nanoseconds(row.end - row.begin) : "");
  }
  return out;
}

void add_ranks(JsonText& json, const emulation::Report& report) {
  json.key("ranks").begin_array();
  for (const auto& [rank, totals] : report.ranks) {
    json.begin_object();
    json.key("rank").number(uint64_t{rank});
    json.key("shim").text(totals.shim);
    json.key("calls").number(totals.calls);
    json.key("bytes").number(totals.bytes);
    json.key("end_ns").number(nanoseconds(totals.end));
    json.key("waiting_ns").number(nanoseconds(totals.waiting));
    json.key("compute_ns").number(nanoseconds(totals.end > totals.waiting ? totals.end - totals.waiting : 0));
    json.key("injected_ns").number(nanoseconds(totals.injected));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Picoseconds lateness(const emulation::Report& report, double p) {
  if (report.lateness.empty()) return 0;
  std::vector<Picoseconds> sorted = report.lateness;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<size_t>(p * static_cast<double>(sorted.size() - 1))];
}

bool late(const emulation::Report& report) {
  Wide sum = 0;
  for (const Picoseconds each : report.lateness) sum += each;
  return sum > Wide{report.time} / 100;
}

std::string emulation_json(const EmulationRecord& record) {
  const emulation::Report& report = record.report;
  JsonText json;
  json.begin_object();
  json.key("weft_emulation").number(uint64_t{1});
  json.key("finished").boolean(record.error.empty());
  if (!record.error.empty()) json.key("error").text(record.error);
  json.key("time_ns").number(nanoseconds(report.time));
  json.key("world").number(uint64_t{record.world});
  json.key("clock").text(record.clock);
  json.key("detail").text(record.detail);
  add_ranks(json, report);
  json.key("communicators").begin_array();
  for (const auto& [id, calls] : report.communicators) {
    json.begin_object();
    json.key("communicator").number(uint64_t{id});
    json.key("calls").number(calls);
    json.end_object();
  }
  json.end_array();
  json.key("collectives").number(report.collectives);
  json.key("messages").number(report.messages);
  json.key("messages_by_likeness").number(report.guessed);
  json.key("iterations").begin_array();
  for (const auto& [name, times] : iteration_times(report)) {
    json.begin_object();
    json.key("name").text(name);
    json.key("count").number(times.count);
    json.key("mean_ns").number(times.mean / 1000);
    json.key("deviation_ns").number(times.deviation / 1000);
    json.end_object();
  }
  json.end_array();
  if (record.clock == "wall") {
    json.key("lateness").begin_object();
    json.key("answers").number(uint64_t{report.lateness.size()});
    json.key("p50_ns").number(nanoseconds(lateness(report, 0.5)));
    json.key("p99_ns").number(nanoseconds(lateness(report, 0.99)));
    json.key("max_ns").number(nanoseconds(lateness(report, 1)));
    json.key("late").boolean(late(report));
    json.end_object();
  }
  json.key("events").number(record.events);
  add_verdict(json, {}, record.warnings, record.wall_s, record.peak_rss_MiB);
  json.end_object();
  return json.str();
}

std::string emulation_text(const EmulationRecord& record) {
  const emulation::Report& report = record.report;
  std::string text = time_text(report.time, record.error.empty());
  text += fmt::format("ranks    {} real of {}, clock {}, detail {}\n", report.ranks.size(),
                      grouped(record.world), record.clock, record.detail);
  text += fmt::format("calls    {}, in {} collectives and {} messages\n", grouped(report.calls.size()),
                      grouped(report.collectives), grouped(report.messages));
  for (const auto& [name, times] : iteration_times(report))
    text += fmt::format("{}  {} without the first: {} on average, deviation {}\n", name, times.count,
                        readable_time(static_cast<Picoseconds>(times.mean)),
                        readable_time(static_cast<Picoseconds>(times.deviation)));
  if (record.clock == "wall")
    text += fmt::format("lateness {} answers: p50 {}, p99 {}, max {}{}\n", report.lateness.size(),
                        readable_time(lateness(report, 0.5)), readable_time(lateness(report, 0.99)),
                        readable_time(lateness(report, 1)),
                        late(report) ? "; late: more than 1 % of the run" : "");
  uint32_t shown = 0;
  for (const auto& [rank, totals] : report.ranks) {
    if (++shown > 8) break;
    text += fmt::format("rank {:<4} ended at {}, of which it waited {}\n", rank, readable_time(totals.end),
                        readable_time(totals.waiting));
  }
  return text;
}

void write_emulation(const OutputFolder& folder, const EmulationRecord& record) {
  write_together([&](FileSet& files) {
    folder.write("calls.csv", calls_csv(record.report), &files);
    folder.write("iterations.csv", iterations_csv(record.report), &files);
    folder.write("summary.json", emulation_json(record), &files);
  });
}

}  // namespace weft::cli
