// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packet fabric against its goldens and the clock:
//   packet_bench speed                     packet-hops/s on the 8x8 mesh at 30 % and 60 % of saturation
//   packet_bench pfc [cycles]              the same with priority flow control beside credits alone, and:
//   packet_bench pfc_permutation [pairs]   long messages on a Clos network, with and without
//   packet_bench gate DATA [seeds]         golden/network_gate.json: latency, p99, overload throughput
//   packet_bench curves DATA [seeds]       golden/network_load_latency.json, mean error per topology
//   packet_bench dumbbell DATA             golden/credit_round_trip.json
//   packet_bench trains [pairs]            long messages with and without packet trains: where they help, and
//                                          where they cannot
//   packet_bench trains_case NUMBER [pairs]
//                                          one of these cases, from 1 on
//   packet_bench drawn_trains [jobs] [seed] [pairs] [number]
//                                          the same on networks, links and traffic that are drawn, or on that
//                                          one of them
//   packet_bench trains MiB ranks [ring|direct|halving_doubling] [ps a flit]
//                                          an all-reduce on a switch with and without packet trains

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <systemc>

#include "bench/packet/golden.h"
#include "bench/packet/train_bench.h"
#include "configs/large_heap.h"
#include "tlm_interconnect/packet/traffic.h"

using namespace weft;
using namespace weft::packet;

namespace {

void advance(Picoseconds t) {
  sc_core::sc_start(sc_core::sc_time::from_value(t));
}

int gate(const std::string& data, uint32_t seeds, const std::string& only) {
  const nlohmann::json golden = bench::load_json(data + "/golden/network_gate.json");
  int bad = 0;
  fmt::print("{:14} {:>8} {:>9} {:>9} {:>7} {:>7} {:>7} {:>7}\n", "topology", "load", "golden", "ours",
             "error", "p99", "ours", "error");
  for (const auto& curve : golden["curves"]) {
    if (!only.empty() && curve["topology"] != only) continue;
    TrafficConfig c = bench::golden_curve(curve, seeds);
    c.warmup_cycles = 5000;
    c.measure_cycles = c.topology.nis.size() > 8 ? 20000 : 100000;
    for (const auto& p : curve["points"]) c.loads.push_back(p["load"]);
    const TrafficResult r = run_traffic(c, advance);
    for (size_t i = 0; i < r.points.size(); ++i) {
      const auto& p = curve["points"][i];
      const double error = 100 * (r.points[i].avg_latency / p["avg_latency"].get<double>() - 1);
      const double error99 = 100 * (r.points[i].p99 / p["p99"].get<double>() - 1);
      const double bar = p["fraction_of_saturation"].get<double>() <= 0.5 ? 3 : 5;
      const bool ok = std::fabs(error) <= bar && std::fabs(error99) <= 10;
      bad += !ok;
      fmt::print("{:14} {:8.4f} {:9.2f} {:9.2f} {:+6.2f}% {:7.1f} {:7.1f} {:+6.2f}%{}\n",
                 curve["topology"].get<std::string>(), p["load"].get<double>(),
                 p["avg_latency"].get<double>(), r.points[i].avg_latency, error, p["p99"].get<double>(),
                 r.points[i].p99, error99, ok ? "" : "  FAIL");
    }
    const double overload = curve["overload_accepted"];
    const double error = 100 * (r.saturation / overload - 1);
    bad += std::fabs(error) > 3;
    fmt::print("{:14} overload {:9.4f} {:9.4f} {:+6.2f}%{}   ({:.1f} s)\n",
               curve["topology"].get<std::string>(), overload, r.saturation, error,
               std::fabs(error) > 3 ? "  FAIL" : "", r.wall_s);
  }
  fmt::print("{} outside the bars\n", bad);
  return bad == 0 ? 0 : 1;
}

int curves(const std::string& data, uint32_t seeds, const std::string& only) {
  const nlohmann::json golden = bench::load_json(data + "/golden/network_load_latency.json");
  std::map<std::string, std::pair<double, int>> mean;
  for (const auto& curve : golden["curves"]) {
    const std::string key = bench::curve_name(curve);
    if (!only.empty() && key.find(only) == std::string::npos) continue;
    TrafficConfig c = bench::golden_curve(curve, seeds);
    c.warmup_cycles = 3000;
    c.measure_cycles = c.topology.nis.size() > 8 ? 10000 : 40000;
    const double saturation = curve["overload_accepted"];
    for (const auto& p : curve["points"]) c.loads.push_back(p[0]);
    const TrafficResult r = run_traffic(c, advance);
    std::string line;
    for (size_t i = 0; i < r.points.size(); ++i) {
      const auto& p = curve["points"][i];
      const double error = 100 * (r.points[i].avg_latency / p[1].get<double>() - 1);
      line += fmt::format(" {:.2f}:{:+.1f}", p[0].get<double>() / saturation, error);
      if (p[0].get<double>() <= 0.8 * saturation) {
        auto& m = mean[curve["topology"].get<std::string>() + " " + curve["switching"].get<std::string>()];
        m.first += std::fabs(error);
        ++m.second;
      }
    }
    fmt::print("{:60} over {:+5.2f}% |{}\n", key, 100 * (r.saturation / saturation - 1), line);
    std::fflush(stdout);
  }
  for (const auto& [key, m] : mean)
    fmt::print("{:40} mean |error| up to 80 %: {:.2f} %\n", key, m.first / m.second);
  return 0;
}

int dumbbell(const std::string& data) {
  const nlohmann::json golden = bench::load_json(data + "/golden/credit_round_trip.json");
  int bad = 0;
  for (const auto& row : golden["rows"]) {
    const TrafficConfig c = bench::golden_dumbbell(row);
    const TrafficResult r = run_traffic(c, advance);
    const double error = 100 * (r.points[0].accepted / row["acc"].get<double>() - 1);
    bad += std::fabs(error) > 0.5;
    fmt::print("L={:3} V={} B={:3} golden {:.4f} ours {:.4f} {:+.2f}%{}\n", row["L"].get<int>(),
               row["V"].get<int>(), row["B"].get<int>(), row["acc"].get<double>(), r.points[0].accepted,
               error, std::fabs(error) > 0.5 ? "  FAIL" : "");
  }
  return bad == 0 ? 0 : 1;
}

TrafficConfig speed_config(double load, uint64_t cycles) {
  TrafficConfig c;
  c.topology = make_from_notation("Mesh(8)_Mesh(8)", {}, {});
  c.loads = {load};
  c.find_saturation = false;
  c.pattern.self_destinations = true;
  c.warmup_cycles = 2000;
  c.measure_cycles = cycles;
  c.seeds = 3;
  c.jobs = 1;
  return c;
}

/// Packet-hops a second of the fastest run.
double best_of(const TrafficResult& r) {
  double best = 0;
  for (const TrafficPoint& p : r.runs) best = std::max(best, static_cast<double>(p.packet_hops) / p.cpu_s);
  return best;
}

int speed(uint64_t cycles) {
  for (const double load : {0.3 * 0.4222, 0.6 * 0.4222}) {
    const TrafficResult r = run_traffic(speed_config(load, cycles), advance);
    const TrafficPoint& p = r.points[0];
    fmt::print("mesh8x8 load {:.3f}: {:.2f} M packet-hops/s (mean {:.2f}), {:.2f} activations a packet-hop\n",
               load, best_of(r) / 1e6, static_cast<double>(p.packet_hops) / p.cpu_s / 1e6,
               static_cast<double>(p.activations) / static_cast<double>(p.packet_hops));
  }
  return 0;
}

// The same network, buffers and packets with priority flow control on every link, and without.
int pfc(uint64_t cycles) {
  struct Case {
    const char* name;
    const char* notation;
    double load;
    uint32_t packet_flits;
    uint32_t vcs;
    uint32_t buffer;
    Picoseconds latency;
  };
  for (const Case& k : {Case{"8x8 mesh, 30 % load", "Mesh(8)_Mesh(8)", 0.127, 8, 4, 64, 0},
                        Case{"8x8 mesh, 60 % load", "Mesh(8)_Mesh(8)", 0.253, 8, 4, 64, 0},
                        Case{"8x8 mesh, full", "Mesh(8)_Mesh(8)", 1, 8, 4, 64, 0},
                        Case{"Clos, 70 % load, 64 flits, 1 VC, 600 cycles", "Clos(hosts=8,leaves=8,spines=8)",
                             0.7, 64, 1, 2048, 600000},
                        Case{"Clos, full, 64 flits, 1 VC, 600 cycles", "Clos(hosts=8,leaves=8,spines=8)", 1,
                             64, 1, 2048, 600000}}) {
    double rate[2] = {0, 0};
    uint64_t pauses = 0;
    double activations[2] = {0, 0};
    for (int pair = 0; pair < 3; ++pair) {
      for (const size_t on : {pair % 2, (pair + 1) % 2}) {
        TrafficConfig c = speed_config(k.load, cycles);
        LinkTiming link;
        link.latency = ticks(k.latency);
        link.pfc = on == 1;
        c.topology = make_from_notation(k.notation, link, link);
        c.packet_flits = k.packet_flits;
        c.network.vcs = k.vcs;
        c.network.buffer_flits = k.buffer;
        c.seeds = 1;
        c.measure_cycles = k.latency == 0 ? cycles : cycles / 2;
        const TrafficResult r = run_traffic(c, advance);
        rate[on] = std::max(rate[on], best_of(r));
        if (on == 1) pauses = r.runs[0].pauses;
        activations[on] =
            static_cast<double>(r.points[0].activations) / static_cast<double>(r.points[0].packet_hops);
      }
    }
    fmt::print(
        "{:46} credits {:5.2f}, with PFC {:5.2f} M packet-hops/s: {:.2f} x; activations a packet-hop "
        "{:.2f} and {:.2f}; {} pauses\n",
        k.name, rate[0] / 1e6, rate[1] / 1e6, rate[0] / rate[1], activations[0], activations[1], pauses);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  put_heap_in_large_pages();  // as `weft` does
  const std::string what = argc > 1 ? argv[1] : "speed";
  const std::string data = argc > 2 ? argv[2] : "";
  const uint32_t seeds = argc > 3 ? static_cast<uint32_t>(std::atoi(argv[3])) : 5;
  const std::string only = argc > 4 ? argv[4] : "";
  try {
    if (what == "gate") return gate(data, seeds, only);
    if (what == "curves") return curves(data, argc > 3 ? seeds : 2, only);
    if (what == "dumbbell") return dumbbell(data);
    if (what == "trains") {
      if (argc <= 3)
        return bench::compare_all_trains(argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 3);
      bench::TrainBench b;
      b.bytes = std::strtoull(argv[2], nullptr, 10) << 20;
      b.notation = fmt::format("Switch({})", argv[3]);
      if (argc > 4) b.traffic = argv[4];
      if (argc > 5) b.flit_time = ticks(std::strtoull(argv[5], nullptr, 10));
      return bench::compare_trains(b, 1);
    }
    if (what == "trains_case")
      return bench::compare_all_trains(argc > 3 ? static_cast<uint32_t>(std::atoi(argv[3])) : 3,
                                       argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1);
    if (what == "drawn_trains") {
      const auto number = [&](int at, uint64_t otherwise) {
        return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
      };
      return bench::compare_drawn_trains(std::max(1u, static_cast<uint32_t>(number(2, 50))), number(3, 1),
                                         std::max(1u, static_cast<uint32_t>(number(4, 3))),
                                         static_cast<uint32_t>(number(5, 0)));
    }
    if (what == "speed") return speed(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100000);
    if (what == "pfc") {
      const int status = pfc(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100000);
      return std::max(status, bench::compare_pfc(3));
    }
    if (what == "pfc_permutation")
      return bench::compare_pfc(argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 3);
    fmt::print(stderr,
               "usage: packet_bench speed [cycles] | pfc [cycles] | gate DATA [seeds] | curves DATA [seeds] "
               "| dumbbell DATA | trains "
               "[pairs] | trains_case NUMBER [pairs] | trains MiB ranks [algorithm] [ps a flit] | "
               "drawn_trains [jobs] [seed] [pairs] [number]\n");
    return 2;
  } catch (const UserError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return static_cast<int>(e.code());
  }
}
