// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/jobs_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/describe.h"
#include "configs/npu_list.h"
#include "sc_main/decimal.h"
#include "sc_main/json_text.h"
#include "sc_main/results.h"
#include "sc_main/table.h"
#include "sc_main/train_results.h"

namespace weft::cli {
namespace {

void add_job(JsonText& json, const JobSummary& job) {
  json.begin_object();
  json.key("name").text(job.name);
  json.key("folder").text(job.folder);
  json.key("trace").text(job.config.workload.trace);
  if (const std::string& text = job.config.workload.text.file; !text.empty()) json.key("text").text(text);
  json.key("ranks").number(uint64_t{job.config.workload.npus.size()});
  json.key("nodes").number(job.result.nodes);
  json.key("finished").boolean(job.finished);
  json.key("time_ns").number(nanoseconds(job.result.time));
  json.key("lower_bound_ns").number(nanoseconds(job.result.lower_bound));
  json.key("messages").number(job.result.messages);
  json.end_object();
}

Wide sum_of(const std::vector<RankRow>& ranks, Picoseconds graph::Categories::*time) {
  Wide sum = 0;
  for (const RankRow& row : ranks) sum += row.time.*time;
  return sum;
}

std::string share(const RunResult& result, Picoseconds graph::Categories::*time) {
  const auto all = static_cast<double>(result.time) * static_cast<double>(result.ranks.size());
  return fmt::format("{:.1f} %", all == 0 ? 0 : 100 * static_cast<double>(sum_of(result.ranks, time)) / all);
}

}  // namespace

std::string machine_summary_json(const MachineRecord& record) {
  const RunResult& result = record.result;
  JsonText json;
  json.begin_object();
  json.key("weft_summary").number(uint64_t{kSummaryVersion});
  json.key("weft").text(program_version());
  json.key("config").text(record.config.file);
  json.key("notation").text(record.config.notation);
  json.key("npus").number(uint64_t{record.config.npus()});
  json.key("nodes").number(result.nodes);
  json.key("finished").boolean(record.finished);
  json.key("time_ns").number(nanoseconds(result.time));
  json.key("jobs").begin_array();
  for (const JobSummary& job : record.jobs) add_job(json, job);
  json.end_array();
  add_links(json, result);
  json.key("messages").number(result.messages);
  json.key("events").number(result.events);
  json.key("packet_hops").number(result.packet_hops);
  json.key("flits").number(result.flits);
  add_congestion(json, record.config, result.congestion);
  add_trains(json, result.trains);
  json.key("memory_bytes").number(result.memory_bytes);
  json.key("out_of_order_starts").number(result.out_of_order_starts);
  add_verdict(json, result.broken_invariants, record.warnings, record.wall_s, record.peak_rss_MiB);
  json.end_object();
  return json.str();
}

void write_machine_results(const OutputFolder& folder, const MachineRecord& record) {
  write_together([&](FileSet& files) {
    write_links(folder, record.result, &files);
    if (record.config.packet.dcqcn.enabled) write_flows(folder, record.result.congestion, &files);
    folder.write("summary.json", machine_summary_json(record), &files);
  });
}

std::string jobs_text(const MachineRecord& record) {
  const RunResult& result = record.result;
  std::string text =
      fmt::format("machine  {}: {} NPUs\n", machine_name(record.config), grouped(record.config.npus()));
  text += time_text(result.time, record.finished) + "\n";
  Table table(
      {"job", "NPUs", "nodes", "time", "lower bound", "compute", "exposed comm.", "idle", "messages"});
  for (const JobSummary& job : record.jobs) {
    const RunResult& own = job.result;
    table.row({job.name + (job.finished ? "" : " (not finished)"), print_npus(job.config.workload.npus),
               grouped(own.nodes), readable_time(own.time), readable_time(own.lower_bound),
               share(own, &graph::Categories::compute), share(own, &graph::Categories::communication),
               share(own, &graph::Categories::idle), grouped(own.messages)});
  }
  text += table.str() + "\n";
  text += links_text(result);
  const std::string congestion = congestion_text(record.config, result.congestion);
  if (!congestion.empty()) text += "ecn      " + congestion + "\n";
  text += pauses_text(result);
  const std::string trains = trains_text(result.trains);
  if (!trains.empty()) text += "trains   " + trains + "\n";
  text += work_text(result, record.wall_s, record.peak_rss_MiB);
  return text;
}

}  // namespace weft::cli
