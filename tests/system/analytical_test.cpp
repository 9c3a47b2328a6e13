// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `analytical` fidelity promises (docs/analytical.md): never slower than `message` with cut_through,
// within 1 % for the rounding of small messages, never below the lower bound, and no memory of earlier
// collectives.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "configs/graph.h"
#include "tests/data/cases.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"
#include "workload/generate/collective.h"

namespace weft {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t below(uint64_t n) { return engine_() % n; }
  template <typename T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  }
  bool one_in(uint64_t n) { return below(n) == 0; }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

/// 1.01 and a nanosecond for the rounding of picoseconds.
bool slower(Picoseconds analytical, Picoseconds message) {
  return analytical > message + message / 100 + 1000;
}

uint64_t draws(uint64_t usual) {
  const char* more = std::getenv("WEFT_ANALYTICAL_DRAWS");
  return more != nullptr ? std::strtoull(more, nullptr, 10) : usual;
}

struct Case {
  Config config;
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  uint32_t root = 0;

  std::string text() const {
    std::string machine;
    for (const DimensionConfig& d : config.dimensions) {
      machine += fmt::format("{}{} {}/{} B/s {} ps", machine.empty() ? "" : "_", print_dimension(d),
                             d.bandwidth.bytes_per_second, d.bandwidth.divisor, d.latency);
    }
    const CollectivesConfig& c = config.collectives;
    return fmt::format(
        "{}{}{}: {} of {} B, root {}, [{}], {} chunks, {} active, {} queues, order {}, window {}, reduction "
        "{}, "
        "e {}, injection {} B/s, {}",
        machine, config.graph != nullptr ? " on a graph" : "", config.mapping.empty() ? "" : " mapped",
        to_string(op), bytes, root, fmt::join(c.algorithms[static_cast<size_t>(op)], ", "), c.chunks,
        c.active_chunks_per_dimension, c.queues_per_dimension, to_string(c.order), c.direct_window,
        c.reduction_bandwidth.bytes_per_second, config.nmu.endpoint_delay,
        config.nmu.injection_bandwidth.bytes_per_second, config.nmu.injection_queue);
  }
};

uint64_t bandwidth(Random& random) {
  return random.of<uint64_t>({10, 25, 50, 200, 900}) * 1'000'000'000ull;
}
Picoseconds latency(Random& random) {
  return random.of<Picoseconds>({0, 100'000, 500'000, 500'000, 2'000'000});
}

std::vector<DimensionConfig> random_dimensions(Random& random) {
  static const DimensionKind kKinds[] = {DimensionKind::ring,
                                         DimensionKind::ring,
                                         DimensionKind::mesh,
                                         DimensionKind::mesh,
                                         DimensionKind::fully_connected,
                                         DimensionKind::switch_};
  std::vector<DimensionConfig> dimensions;
  const uint64_t count = random.of<uint64_t>({1, 1, 1, 2, 2, 3});
  uint32_t npus = 1;
  for (uint64_t i = 0; i < count; ++i) {
    DimensionConfig d;
    d.kind = kKinds[random.below(6)];
    d.size = 2 + static_cast<uint32_t>(random.below(count == 1 ? 15 : 6));
    while (npus * d.size > 64) --d.size;
    if (d.size < 2) break;
    d.bandwidth = {bandwidth(random), random.of<uint32_t>({1, 1, 7})};
    d.latency = latency(random);
    d.switching = Switching::cut_through;
    if (d.kind == DimensionKind::switch_ && random.one_in(2) && d.size >= 4)
      test::make_random_tree(d, test::random_tree(d.size, random.engine()), random.engine());
    npus *= d.size;
    dimensions.push_back(d);
  }
  return dimensions;
}

/// A ring with chords, or a few switches in a row: nothing is alike.
void put_on_graph(Config& config, Random& random) {
  GraphSpec spec;
  spec.npus = config.npus();
  spec.switching = Switching::cut_through;
  const auto link = [&](uint32_t from, uint32_t to) {
    GraphLink l;
    l.from = from;
    l.to = to;
    l.bandwidth = {bandwidth(random), 1};
    l.latency = latency(random);
    spec.links.push_back(l);
  };
  if (random.one_in(2)) {
    const auto switches = static_cast<uint32_t>(1 + random.below(3));
    for (uint32_t s = 0; s < switches; ++s) spec.switches.push_back("s" + std::to_string(s));
    for (uint32_t n = 0; n < spec.npus; ++n) link(n, spec.npus + n % switches);
    for (uint32_t s = 0; s + 1 < switches; ++s) link(spec.npus + s, spec.npus + s + 1);
  } else {
    for (uint32_t n = 0; n < spec.npus; ++n) link(n, (n + 1) % spec.npus);
    for (uint64_t i = random.below(4); i > 0; --i) {
      const auto from = static_cast<uint32_t>(random.below(spec.npus));
      link(from, (from + 2) % spec.npus);
    }
  }
  config.graph = std::make_shared<const Graph>(std::move(spec));
}

Case random_case(uint64_t seed) {
  Random random(seed);
  Case c;
  c.config.dimensions = random_dimensions(random);
  const uint32_t npus = c.config.npus();
  c.op = static_cast<CollectiveOp>(random.below(kCollectiveOps));
  c.bytes =
      random.of<uint64_t>({1, 64, 1000, 10007, 100003, 1 << 20, 8 << 20}) * random.of<uint64_t>({1, 3, 8});
  c.root = static_cast<uint32_t>(random.below(npus));
  CollectivesConfig& k = c.config.collectives;
  k.chunks = static_cast<uint32_t>(1 + random.below(5));
  k.active_chunks_per_dimension = random.of<uint32_t>({1, 1, 1, 2, 3});
  k.queues_per_dimension = random.of<uint32_t>({1, 1, 2});
  k.order = static_cast<CollectiveOrder>(random.below(kCollectiveOrders));
  if (random.one_in(5)) k.direct_window = static_cast<uint32_t>(1 + random.below(3));
  if (random.one_in(4)) {
    k.reduction = ReductionKind::fixed_bandwidth;
    k.reduction_bandwidth = {random.of<uint64_t>({1600, 100}) * 1'000'000'000ull, 1};
  }
  if (random.one_in(4)) c.config.nmu.endpoint_delay = random.of<Picoseconds>({10'000, 300'000});
  if (random.one_in(6)) c.config.nmu.injection_bandwidth = {bandwidth(random), 1};
  if (random.one_in(6)) c.config.nmu.injection_queue = static_cast<uint32_t>(1 + random.below(3));
  if (!random.one_in(4)) {
    test::DataCase data;
    data.config = c.config;
    data.request.op = c.op;
    test::choose_algorithms(data, random.below(1u << 30), true);
    k.algorithms = data.config.collectives.algorithms;
  }
  const auto& names = k.algorithms[static_cast<size_t>(c.op)];
  const bool units = std::find(names.begin(), names.end(), "in_switch") != names.end();
  if (!units && npus >= 3 && npus <= 16 && random.one_in(8)) put_on_graph(c.config, random);
  if (!units && c.config.graph == nullptr && random.one_in(8)) {
    for (uint32_t r = 0; r < npus; ++r) c.config.mapping.push_back(r);
    std::shuffle(c.config.mapping.begin(), c.config.mapping.end(), random.engine());
  }
  return c;
}

void set_fidelity(Config& config, Fidelity fidelity) {
  for (DimensionConfig& d : config.dimensions) d.fidelity = fidelity;
  if (config.graph == nullptr) return;
  GraphSpec spec = config.graph->spec();
  spec.fidelity = fidelity;
  config.graph = std::make_shared<const Graph>(std::move(spec));
}

struct Outcome {
  Picoseconds time = 0;
  std::string wrong;
};

Outcome outcome(const test::Isolated& result) {
  if (result.status != 0) return {0, "status " + std::to_string(result.status) + ": " + result.text};
  char* end = nullptr;
  Outcome o;
  o.time = std::strtoull(result.text.c_str(), &end, 10);
  o.wrong = end;
  return o;
}

/// The time of the last of some collectives, one after the other: "ps" and what is wrong.
Outcome run(const Case& c, Fidelity fidelity, const std::vector<uint64_t>& sizes) {
  return outcome(test::isolated([&] {
    Config config = c.config;
    set_fidelity(config, fidelity);
    test::SoloCollectiveJob job("job", config);
    for (const uint64_t bytes : sizes) {
      job.start(c.op, bytes, c.root);
      test::run_to_the_end(job);
      if (!job.finished()) return "0 " + job.stall_report();
    }
    std::string text = std::to_string(job.last().time());
    for (const std::string& broken : job.result().broken_invariants) text += " " + broken;
    return text;
  }));
}

TEST(Analytical, LiesBetweenTheBoundAndMessagesWithCutThrough) {
  // The lower bound is asserted by every run: a broken invariant is in `wrong`.
  std::vector<double> ratios;
  uint32_t failed = 0;
  const uint64_t cases = draws(150);
  for (uint64_t seed = 1; seed <= cases && failed < 5; ++seed) {
    const Case c = random_case(seed);
    const Outcome analytical = run(c, Fidelity::analytical, {c.bytes});
    const Outcome message = run(c, Fidelity::message, {c.bytes});
    EXPECT_EQ(analytical.wrong, "") << "seed " << seed << ": " << c.text();
    EXPECT_EQ(message.wrong, "") << "seed " << seed << ": " << c.text();
    EXPECT_FALSE(slower(analytical.time, message.time))
        << "seed " << seed << ": " << analytical.time << " ps instead of " << message.time << ": "
        << c.text();
    failed += !analytical.wrong.empty() || !message.wrong.empty() || slower(analytical.time, message.time);
    if (message.time != 0) {
      ratios.push_back(static_cast<double>(analytical.time) / static_cast<double>(message.time));
    }
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  std::printf("analytical / message: least %.3f, 5 %% %.3f, 10 %% %.3f, 25 %% %.3f, median %.3f, most %.4f\n",
              at(0), at(0.05), at(0.1), at(0.25), at(0.5), at(1));
  EXPECT_GT(at(0.5), 0.99);
}

TEST(Analytical, ASizeTakesAsLongAfterOthersAsAlone) {
  for (uint64_t seed = 1001; seed <= 1000 + draws(60); ++seed) {
    const Case c = random_case(seed);
    const Outcome alone = run(c, Fidelity::analytical, {c.bytes});
    const Outcome after = run(c, Fidelity::analytical, {1 << 20, 64, c.bytes});
    EXPECT_EQ(alone.wrong + after.wrong, "") << "seed " << seed << ": " << c.text();
    EXPECT_EQ(alone.time, after.time) << "seed " << seed << ": " << c.text();
    if (HasFailure()) break;
  }
}

Case on_ring(uint32_t n, CollectiveOp op, uint64_t bytes, const std::string& algorithm) {
  Case c;
  DimensionConfig d;
  d.kind = DimensionKind::ring;
  d.size = n;
  d.bandwidth = {50'000'000'000ull, 1};
  d.latency = 500'000;
  d.switching = Switching::cut_through;
  c.config.dimensions = {d};
  c.config.collectives.chunks = 1;
  c.config.collectives.algorithms[static_cast<size_t>(op)] = {algorithm};
  c.op = op;
  c.bytes = bytes;
  return c;
}

TEST(Analytical, AFullExchangeOnARingTakesWhatMessagesTake) {
  // docs/analytical.md, example 1, and rings of every size: sizes at which the links are the limit, and small
  // ones at which the latency is.
  for (const uint32_t n : {4u, 5u, 6u, 7u, 8u, 11u, 16u}) {
    for (const uint64_t bytes : {64ull, 1ull << 20}) {
      for (const CollectiveOp op :
           {CollectiveOp::all_gather, CollectiveOp::all_to_all, CollectiveOp::all_reduce,
            CollectiveOp::reduce_scatter, CollectiveOp::barrier}) {
        for (const uint32_t queues : {1u, 2u}) {
          Case c = on_ring(n, op, op == CollectiveOp::all_gather ? bytes : bytes * n + 5, "direct");
          c.config.collectives.chunks = queues;
          c.config.collectives.queues_per_dimension = queues;
          const Outcome analytical = run(c, Fidelity::analytical, {c.bytes});
          const Outcome message = run(c, Fidelity::message, {c.bytes});
          EXPECT_EQ(analytical.wrong + message.wrong, "") << c.text();
          // Blocks differ by a byte, and a message's larger block need not be on the member's busier link.
          const Picoseconds bytes_apart = 2 * transfer_time(n, c.config.dimensions[0].bandwidth);
          if (queues == 1) {
            EXPECT_NEAR(static_cast<double>(analytical.time), static_cast<double>(message.time),
                        static_cast<double>(bytes_apart))
                << c.text();
          } else {
            EXPECT_LE(analytical.time, message.time + bytes_apart) << c.text();
          }
          if (n == 4 && bytes > 64 && op == CollectiveOp::all_gather && queues == 1) {
            EXPECT_EQ(analytical.time, 63'414'560u);
          }
        }
      }
    }
  }
}

/// Every member sends all it has to every other one: an all-reduce of one round, in the program of each
/// member.
std::string write_one_round(const trace::test::TempFolder& folder, uint32_t n) {
  using trace::test::attribute;
  for (uint32_t me = 0; me < n; ++me) {
    std::vector<trace::test::PbNode> nodes;
    for (uint32_t k = 1; k < n; ++k) {
      nodes.push_back(trace::test::make(2 * k, "s", ChakraProtoMsg::COMM_SEND_NODE, {}));
      attribute(nodes.back(), "comm_dst", int64_t{(me + k) % n});
      attribute(nodes.back(), "block_first", int64_t{0});
      attribute(nodes.back(), "block_count", int64_t{n});
      nodes.push_back(trace::test::make(2 * k + 1, "r", ChakraProtoMsg::COMM_RECV_NODE, {}));
      attribute(nodes.back(), "comm_src", int64_t{(me + n - k) % n});
      attribute(nodes.back(), "reduce", int64_t{1});
    }
    trace::test::write_trace(folder / ("one." + std::to_string(me) + ".et"), nodes);
  }
  return folder / "one";
}

TEST(Analytical, AProgramThatIsAFullExchangeIsOne) {
  const trace::test::TempFolder folder;
  for (const uint32_t n : {4u, 5u, 8u}) {
    for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_to_all,
                                  CollectiveOp::all_reduce, CollectiveOp::reduce_scatter}) {
      const std::string prefix = generate::generate_collective(
                                     {op, "direct", n, 0}, folder / ("x" + std::to_string(n)), to_string(op))
                                     .prefix;
      for (const uint64_t bytes : {64ull, (1ull << 20) + 3}) {
        const Case direct = on_ring(n, op, bytes, "direct");
        const Case program = on_ring(n, op, bytes, "custom:" + prefix);
        const Outcome a = run(direct, Fidelity::analytical, {bytes});
        const Outcome b = run(program, Fidelity::analytical, {bytes});
        EXPECT_EQ(a.wrong + b.wrong, "") << direct.text();
        EXPECT_EQ(a.time, b.time) << direct.text();
      }
    }
    // Neither a receiver's nor a sender's block: what passes a link is told from the sends.
    const uint64_t bytes = 1 << 20;
    const Case whole = on_ring(n, CollectiveOp::all_reduce, bytes, "custom:" + write_one_round(folder, n));
    const Outcome analytical = run(whole, Fidelity::analytical, {bytes});
    const Outcome message = run(whole, Fidelity::message, {bytes});
    EXPECT_EQ(analytical.wrong + message.wrong, "");
    EXPECT_EQ(analytical.time, message.time) << n << " members";
    const uint64_t passing = bytes * (n / 2) * (n / 2 + 1) / 2;
    EXPECT_EQ(analytical.time, transfer_time(passing, {50'000'000'000ull, 1}) + 500'000);
  }
}

TEST(Analytical, TwoNpusAreAlikeAsEveryKind) {
  for (uint64_t seed = 1; seed <= draws(60); ++seed) {
    Random random(seed);
    Case c;
    DimensionConfig pair;
    pair.size = 2;
    pair.bandwidth = {bandwidth(random), 1};
    pair.latency = latency(random);
    DimensionConfig other = pair;
    other.kind = random.of(
        {DimensionKind::ring, DimensionKind::mesh, DimensionKind::switch_, DimensionKind::fully_connected});
    other.size = 2 + static_cast<uint32_t>(random.below(4));
    other.bandwidth = {bandwidth(random), 1};
    other.latency = latency(random);
    c.config.dimensions = {other, other};
    const uint64_t at = random.below(2);
    c.op = random.of(
        {CollectiveOp::all_reduce, CollectiveOp::all_to_all, CollectiveOp::gather, CollectiveOp::broadcast});
    c.bytes = 1 + random.below(1 << 20);
    c.config.collectives.chunks = 1;
    // Ways through both dimensions.
    const bool halves = c.op == CollectiveOp::all_reduce || c.op == CollectiveOp::broadcast;
    const std::string algorithm = halves && random.one_in(2) ? "one_halving_doubling" : "one_direct";
    c.config.collectives.algorithms[static_cast<size_t>(c.op)] = {algorithm, algorithm};
    std::vector<Picoseconds> times;
    for (const DimensionKind kind :
         {DimensionKind::ring, DimensionKind::fully_connected, DimensionKind::mesh}) {
      pair.kind = kind;
      c.config.dimensions[at] = pair;
      const Outcome o = run(c, Fidelity::analytical, {c.bytes});
      EXPECT_EQ(o.wrong, "") << "seed " << seed << ": " << c.text();
      times.push_back(o.time);
    }
    EXPECT_EQ(times[0], times[1]) << "seed " << seed << ": " << c.text();
    EXPECT_EQ(times[0], times[2]) << "seed " << seed << ": " << c.text();
    if (HasFailure()) break;
  }
}

TEST(Analytical, MeetingOnLinksBetweenIsLeftOut) {
  // docs/analytical.md, example 2.
  Case c;
  DimensionConfig d;
  d.kind = DimensionKind::mesh;
  d.size = 4;
  d.bandwidth = {100'000'000'000ull, 1};
  d.latency = 1'000'000;
  d.switching = Switching::cut_through;
  c.config.dimensions = {d};
  c.config.collectives.chunks = 1;
  c.op = CollectiveOp::broadcast;
  c.config.collectives.algorithms[static_cast<size_t>(c.op)] = {"halving_doubling"};
  EXPECT_EQ(run(c, Fidelity::analytical, {1'000'000}).time, 23'000'000u);
  EXPECT_EQ(run(c, Fidelity::message, {1'000'000}).time, 32'000'000u);
}

// ---- whole jobs

struct Job {
  Config config;
  std::vector<std::vector<trace::test::PbNode>> ranks;
};

/// Compute of different lengths, collectives of all ranks and messages, on every rank.
Job random_job(uint64_t seed) {
  Random random(seed);
  Case c;
  do {
    c = random_case(random.below(1ull << 40));
  } while (c.config.npus() < 2 || c.config.npus() > 24);
  Job job;
  job.config = c.config;
  job.config.collectives.algorithms = {};
  // Chunks that take turns on several dimensions are a list schedule, in which a shorter time can lead to a
  // later end (docs/analytical.md). With one chunk nothing chooses between chunks of one collective.
  job.config.collectives.chunks = 1;
  job.config.hbm.bandwidth = {2'000'000'000'000ull, 1};
  const uint32_t npus = c.config.npus();
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    for (size_t d = 0; d < job.config.dimensions.size(); ++d) {
      const bool power = (job.config.dimensions[d].size & (job.config.dimensions[d].size - 1)) == 0;
      job.config.collectives.algorithms[static_cast<size_t>(op)].push_back(
          random.of<const char*>({"ring", "direct", "direct",
                                  power && op != CollectiveOp::all_to_all ? "halving_doubling" : "ring"}));
    }
  }
  job.ranks.resize(npus);
  const uint64_t nodes = 3 + random.below(5);
  for (uint64_t id = 1; id <= nodes; ++id) {
    const uint64_t kind = random.below(4);
    const uint64_t bytes = random.of<uint64_t>({64, 1000, 100'003, 1 << 20});
    const auto op = random.of<ChakraProtoMsg::CollectiveCommType>(
        {ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER, ChakraProtoMsg::REDUCE_SCATTER,
         ChakraProtoMsg::ALL_TO_ALL});
    const uint64_t shift = 1 + random.below(npus - 1);
    for (uint32_t r = 0; r < npus; ++r) {
      std::vector<trace::test::PbNode> here;
      const uint64_t last = job.ranks[r].empty() ? 0 : job.ranks[r].back().id();
      if (kind == 0) {
        here.push_back(trace::test::comp(100 * id, {}, random.below(60)));
      } else if (kind == 1) {
        const auto to = static_cast<uint32_t>((r + shift) % npus);
        const auto from = static_cast<uint32_t>((r + npus - shift) % npus);
        here.push_back(trace::test::send(100 * id, to, bytes, static_cast<uint32_t>(id)));
        here.push_back(trace::test::receive(100 * id + 1, from, bytes, static_cast<uint32_t>(id)));
      } else {
        here.push_back(trace::test::collective(100 * id, op, static_cast<int64_t>(bytes), ""));
      }
      for (trace::test::PbNode& node : here) {
        if (last != 0) node.add_data_deps(last);
        job.ranks[r].push_back(node);
      }
      if (here.size() == 2) {  // go on when both are over
        trace::test::PbNode join = trace::test::comp(100 * id + 2, {}, 0);
        join.add_data_deps(100 * id);
        join.add_data_deps(100 * id + 1);
        job.ranks[r].push_back(join);
      }
    }
  }
  return job;
}

Outcome run(const Job& job, const std::string& prefix, Fidelity fidelity) {
  return outcome(test::isolated([&] {
    Config config = job.config;
    set_fidelity(config, fidelity);
    const trace::JobTrace traces = trace::open_job(prefix, config.npus(), "", false);
    test::SoloTraceJob trace_job("job", config, traces);
    trace_job.start();
    test::run_to_the_end(trace_job);
    if (!trace_job.finished()) return "0 " + trace_job.stall_report();
    const RunResult result = trace_job.result();
    std::string text = std::to_string(result.time);
    if (result.time < result.lower_bound || result.time > result.upper_bound)
      text += fmt::format(" not between {} and {} ps", result.lower_bound, result.upper_bound);
    for (const std::string& broken : result.broken_invariants) text += " " + broken;
    return text;
  }));
}

TEST(Analytical, JobsWithStragglersAreNeverSlowerThanInMessagesAndKeepTheirBounds) {
  for (uint64_t seed = 1; seed <= draws(100); ++seed) {
    const Job job = random_job(seed);
    trace::test::TempFolder folder;
    for (uint32_t r = 0; r < job.ranks.size(); ++r)
      trace::test::write_trace(folder / ("job." + std::to_string(r) + ".et"), job.ranks[r]);
    const Outcome analytical = run(job, folder / "job", Fidelity::analytical);
    const Outcome message = run(job, folder / "job", Fidelity::message);
    Outcome packet;
    if (seed % 4 == 0) packet = run(job, folder / "job", Fidelity::packet);
    Case c;
    c.config = job.config;
    EXPECT_EQ(analytical.wrong + message.wrong + packet.wrong, "") << "seed " << seed << ": " << c.text();
    EXPECT_FALSE(slower(analytical.time, message.time))
        << "seed " << seed << ": " << analytical.time << " ps instead of " << message.time << ": "
        << c.text();
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace weft
