// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw_run(Random& random) {
  Case c;
  MachineLimits machine;
  machine.trees = true;
  machine.npus = 9;
  machine.fidelities = {"analytical", "analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  if (random.chance(20)) c.machine.keys["run.seed"] = std::to_string(random.below(100));
  if (random.chance(20)) c.machine.keys["nmu.injection_queue"] = std::to_string(random.between(1, 4));
  if (random.chance(20)) c.machine.keys["hbm.bandwidth"] = fmt::format("{} GB/s", random.between(100, 4000));
  JobLimits job;
  job.works = 8;
  job.bytes = 32 << 10;
  c.job = draw_job(random, c.machine, job);
  return c;
}

constexpr const char* kFiles[] = {"ranks.csv", "collectives.csv", "phases.csv", "layers.csv", "links.csv"};

/// The text without the lines that say when, where and how it was run.
std::string without(const std::string& text, const std::vector<std::string>& beginnings) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const std::string words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    bool told = true;
    for (const std::string& beginning : beginnings) told = told && words.rfind(beginning, 0) != 0;
    if (told) out += line + "\n";
  }
  return out;
}

/// The summary without what says when and how it was run, and without the name of its configuration, which
/// warnings begin with.
std::string summary_of(Bench& bench, const RunResults& run) {
  std::string text =
      without(bench.read(run.folder + "/summary.json"), {"\"wall_s\"", "\"peak_rss_MiB\"", "\"config\""});
  const auto name = run.summary.at("config").get<std::string>() + ": ";
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) text.erase(at, name.size());
  return text;
}

void require_same_files(Bench& bench, const RunResults& a, const RunResults& b, const std::string& what) {
  for (const char* file : kFiles)
    require_equal(bench.read(a.folder + "/" + file), bench.read(b.folder + "/" + file), what, file);
  require_equal(summary_of(bench, a), summary_of(bench, b), what, "summary.json");
  require_equal(without(bench.read(a.folder + "/effective.yaml"), {"dir:"}),
                without(bench.read(b.folder + "/effective.yaml"), {"dir:"}), what, "effective.yaml");
}

void check_effective(const Case& c, Bench& bench) {
  const RunResults first = bench.run(c.machine, *c.job);
  const RunResults second = bench.run_files("machine.yaml", "job", "out_second");
  require_same_files(bench, first, second, "a second run gives other results");
  const RunResults third = bench.run_files("out_machine/effective.yaml", "", "out_third");
  require_same_files(bench, first, third, "effective.yaml gives other results");
}

void check_waves(const Case& c, Bench& bench) {
  const RunResults plain = bench.run(c.machine, *c.job, "machine", {"--no-fold"});
  const RunResults waves = bench.run_files("machine.yaml", "job", "out_waves", {"--no-fold", "--waves", "*"});
  const std::string what = "waveforms change the results";
  for (const char* file : kFiles)
    require_equal(bench.read(plain.folder + "/" + file), bench.read(waves.folder + "/" + file), what, file);
  auto a = plain.summary;
  auto b = waves.summary;
  // Packet trains are off while waveforms are recorded, so that more activations give the same results.
  for (const char* key : {"folding", "wall_s", "peak_rss_MiB", "events", "trains"})
    a.erase(key), b.erase(key);
  require_equal(a.dump(1), b.dump(1), what, "summary.json");
  require(bench.read("out_waves/waves.vcd").size() > 100, "the waveform is empty", "waves.vcd");
}

/// Every link that can be cut is cut by a border, or a part of them. The machine has one: its first dimension
/// is at message or packet fidelity.
void check_cut(const Case& c, Bench& bench) {
  const RunResults plain = bench.run(c.machine, *c.job, "machine", {"--no-fold"});
  const std::string pattern = c.choice("part") == 0 ? "*" : "*0.*";
  const RunResults cut =
      bench.run_files("machine.yaml", "job", "out_cut", {"--no-fold", "--set", "run.cut_links=" + pattern});
  const std::string what = "a border changes the results";
  for (const char* file : kFiles)
    require_equal(bench.read(plain.folder + "/" + file), bench.read(cut.folder + "/" + file), what, file);
  // Packet trains do not pass borders, so that more activations give the same results.
  auto a = plain.summary;
  auto b = cut.summary;
  for (const char* key : {"wall_s", "peak_rss_MiB", "events", "trains"}) a.erase(key), b.erase(key);
  require_equal(a.dump(1), b.dump(1), what, "summary.json");
}

/// What changes how packets cross links: errors, pauses, marks, the choice of ways.
void draw_packet_links(Random& random, Machine& machine) {
  Settings& keys = machine.keys;
  const auto often = [&random] { return random.chance(30); };
  if (often()) keys["packet.packet_size"] = fmt::format("{} B", 64u << random.below(3));
  if (often()) keys["packet.vcs"] = std::to_string(2 * random.between(1, 4));
  if (often()) keys["packet.buffer_flits"] = std::to_string(random.between(64, 128));
  const auto packets_on = [&machine](const auto& is) {
    return std::any_of(machine.dimensions.begin(), machine.dimensions.end(),
                       [&](const Dimension& d) { return d.keys.at("fidelity") == "packet" && is(d); });
  };
  // Adaptive routing has no switches; pauses can lock a ring.
  const bool switches = packets_on([](const Dimension& d) { return d.kind == "Switch" || d.tree(); });
  const bool rings = packets_on([](const Dimension& d) { return d.kind == "Ring"; });
  if (!switches && often()) {
    keys["packet.routing"] = "minimal_adaptive";
  } else if (!rings && often()) {
    keys["packet.flow_control"] = "pfc";
  }
  if (often()) keys["packet.switching"] = "flit_interleaved";
  if (often()) keys["packet.forwarding"] = "software";
  if (often()) {
    keys["packet.ecn.enabled"] = "true";
    keys["packet.ecn.k_min"] = "256 B";
    keys["packet.ecn.k_max"] = "1 KiB";
    keys["packet.ecn.p_max"] = "0.5";
    if (random.chance(50)) keys["packet.dcqcn.enabled"] = "true";
  }
  for (Dimension& dimension : machine.dimensions)
    if (dimension.keys["fidelity"] == "packet" && often()) dimension.keys["flit_error_rate"] = "0.001";
}

Case draw_cut(Random& random) {
  Case c = draw_run(random);
  c.machine.dimensions.front().keys["fidelity"] = random.pick({"message", "packet"});
  draw_packet_links(random, c.machine);
  if (random.chance(30)) c.choices["part"] = 1;
  if (random.chance(40)) {
    c.machine.keys["run.data"] = "functional";
    c.machine.keys["run.element"] = "int32";
    for (Work& work : c.job->works)
      if (work.kind == Work::Kind::collective || work.kind == Work::Kind::message)
        work.amount = work.amount / 4 * 4;
  }
  return c;
}

/// Keys by --set in place of the file.
void check_set(const Case& c, Bench& bench) {
  Machine bare = c.machine;
  std::vector<std::string> sets;
  const auto set = [&sets](const std::string& key, const std::string& value) {
    sets.insert(sets.end(), {"--set", key + "=" + value});
  };
  for (const auto& [key, value] : c.machine.keys) set(key, value);
  bare.keys.clear();
  for (size_t d = 0; d < bare.dimensions.size(); ++d) {
    for (const auto& [key, value] : c.machine.dimensions[d].keys) {
      if (key == "bandwidth" || key == "levels") continue;  // the file needs the one, and the other is a list
      set(fmt::format("topology.dimensions[{}].{}", d, key), value);
      bare.dimensions[d].keys.erase(key);
    }
  }
  const RunResults file = bench.run(c.machine, *c.job);
  bench.write("bare.yaml", bare.yaml());
  const RunResults options = bench.run_files("bare.yaml", "job", "out_bare", sets);
  require_same_files(bench, file, options, "--set gives other results than the same key in the file");
}

/// The order of keys in YAML, of groups in their file, and ids of other size.
void check_order(const Case& c, Bench& bench) {
  const RunResults first = bench.run(c.machine, *c.job);
  Job other = *c.job;
  other.key_order = c.choice("groups");
  if (c.choice("ids") != 0) other.ids = c.choice("ids");
  bench.write("other.yaml", c.choice("yaml") == 0 ? c.machine.yaml() : c.machine.yaml(c.choice("yaml")));
  other.write(bench.folder() + "/other", c.machine.npus());
  const RunResults second = bench.run_files("other.yaml", "other", "out_other");
  const std::string what = "the order of keys, groups or ids changes the results";
  for (const char* file : kFiles)
    require_equal(bench.read(first.folder + "/" + file), bench.read(second.folder + "/" + file), what, file);
  auto a = first.summary;
  auto b = second.summary;
  // These name the files.
  for (const char* key : {"config", "trace", "warnings", "wall_s", "peak_rss_MiB"})
    a.erase(key), b.erase(key);
  require_equal(a.dump(1), b.dump(1), what, "summary.json");
}

Case draw_order(Random& random) {
  Case c = draw_run(random);
  c.choices["groups"] = random.between(1, 1000);
  c.choices["yaml"] = random.between(1, 1000);
  if (random.chance(50)) c.choices["ids"] = random.between(1, 1000000);
  return c;
}

Case draw_waves(Random& random) {
  Case c = draw_run(random);
  return c;
}

}  // namespace

Relation effective() {
  return {"effective", "effective.yaml and a second run give the same files, byte for byte", draw_run,
          check_effective};
}
Relation waves() {
  return {"waves", "a run with --waves '*' gives the same results", draw_waves, check_waves};
}
Relation borders() {
  return {"borders", "links that borders cut in two carry the same at the same times", draw_cut, check_cut};
}
Relation set_option() {
  return {"set_option", "--set gives the same files as the same key in YAML", draw_run, check_set};
}
Relation key_order() {
  return {"key_order", "the order of keys and groups, and other node ids, change nothing", draw_order,
          check_order};
}

}  // namespace weft::relations
