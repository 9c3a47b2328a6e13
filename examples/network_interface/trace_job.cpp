// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Traces over weft_net.h. The ranks' execution engines and collective engines are plain C++ of Weft's
// workload library; here they stand for somebody's own simulator of hosts. All that they send goes through
// the C interface. The time is that of `weft run` with the same machine and traces.
//
//     weft generate llm --tp 2 --dp 2 --layers 2 --hidden 256 --batch 2 --out trace
//     trace_job machine.yaml trace/llm trace/llm.groups.json

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "configs/loader.h"
#include "network_interface/weft_net.h"
#include "workload/collectives/engine.h"
#include "workload/graph/checked_job.h"
#include "workload/graph/rank_engine.h"

namespace {

using weft::Completion;
using weft::Picoseconds;

class Host;

struct Simulator {
  weft_net* net;
  const weft::trace::JobTrace& traces;
  weft::graph::CheckedJob checked;
  std::vector<std::unique_ptr<Host>> hosts;

  void check(int state) const {
    if (state < 0) throw std::runtime_error(weft_net_error(net));
  }
  /// f() after `delta` ps, or when a message is there.
  template <typename F>
  static void call(void* f) {
    const std::unique_ptr<F> own(static_cast<F*>(f));
    (*own)();
  }
  template <typename F>
  void after(Picoseconds delta, F f) {
    check(weft_net_schedule(net, static_cast<int64_t>(delta), call<F>, new F(std::move(f))));
  }
};

/// A rank: what its engines ask of the hardware around them.
class Host final : public weft::graph::RankServices, public weft::MessagePort {
 public:
  Host(Simulator& simulator, const weft::Config& config, uint32_t rank)
      : simulator_(simulator),
        rank_(rank),
        feeder_(simulator.traces.feeder(rank)),
        collectives_(weft::NpuId{rank}, config, *this,
                     [this](const weft::collectives::CollectiveDone& done) { ended(done.stream); }),
        nodes_(rank, config.npu, *feeder_, *this) {}

  void start() { nodes_.start(); }
  bool finished() const { return nodes_.finished(); }
  Picoseconds finished_at() const { return nodes_.finished_at(); }

  Picoseconds now() const override { return static_cast<Picoseconds>(weft_net_now(simulator_.net)); }

  // weft::graph::RankServices
  void schedule(Picoseconds at, uint32_t token) override {
    // Both engines schedule: this one is asked by the collective engine while it runs.
    const bool collective = in_collectives_;
    simulator_.after(at - now(), [this, token, collective] {
      if (collective)
        with_collectives([&] { collectives_.wake(token); });
      else
        nodes_.wake(token);
      look_around();
    });
  }
  void start_memory(const weft::trace::Node& node) override {
    // The machine of this example has memories without a time of their own.
    const weft::trace::NodeIndex index = node.index;
    simulator_.after(0, [this, index] {
      nodes_.memory_done(index);
      look_around();
    });
  }
  void start_collective(const weft::trace::Node& node) override {
    int32_t priority = 0;
    const auto request = simulator_.checked.request(rank_, node, &priority);
    const uint32_t stream = simulator_.traces.collectives().number(request.group->id, node.ordinal);
    running_[stream] = node.index;
    with_collectives(
        [&] { collectives_.start(stream, simulator_.checked.plans()->plan(request), priority); });
    settle_soon();
  }
  void start_send(const weft::trace::Node& node) override {
    // Done when the last byte has left: the network is opened so.
    const weft::trace::NodeIndex index = node.index;
    auto done = [this, index] {
      nodes_.send_done(index);
      look_around();
    };
    using Done = decltype(done);
    simulator_.check(weft_net_send(simulator_.net, static_cast<int>(rank_), static_cast<int>(node.peer),
                                   node.comm_size, static_cast<int>(node.tag), Simulator::call<Done>,
                                   new Done(done)));
  }
  void start_receive(const weft::trace::Node& node) override {
    const weft::trace::NodeIndex index = node.index;
    auto done = [this, index] {
      nodes_.receive_done(index);
      look_around();
    };
    using Done = decltype(done);
    simulator_.check(weft_net_recv(simulator_.net, static_cast<int>(rank_), static_cast<int>(node.peer),
                                   node.comm_size, static_cast<int>(node.tag), Simulator::call<Done>,
                                   new Done(done)));
  }

  // weft::MessagePort
  void submit(const weft::Message& message) override {
    Completion completion;
    completion.id = message.id;
    completion.source = weft::NpuId{rank_};
    completion.bytes = message.bytes;
    Host& peer = *simulator_.hosts[weft::index(message.peer)];
    auto arrived = [completion, &peer] { peer.arrived(completion); };
    using Arrived = decltype(arrived);
    const auto to = static_cast<int>(peer.rank_);
    const auto from = static_cast<int>(rank_);
    simulator_.check(weft_net_send(simulator_.net, from, to, message.bytes, kCollectives, nullptr, nullptr));
    simulator_.check(weft_net_recv(simulator_.net, to, from, message.bytes, kCollectives,
                                   Simulator::call<Arrived>, new Arrived(arrived)));
  }

 private:
  static constexpr int kCollectives = 0x7000'0000;  ///< tag of collectives' messages

  void arrived(const Completion& completion) {
    with_collectives([&] { collectives_.completed(completion); });
    settle_soon();
  }
  void ended(uint32_t stream) {
    const auto it = running_.find(stream);
    const weft::trace::NodeIndex node = it->second;
    running_.erase(it);
    in_collectives_ = false;
    nodes_.collective_done(node);
    look_around();
  }
  template <typename F>
  void with_collectives(F f) {
    in_collectives_ = true;
    f();
    in_collectives_ = false;
  }
  /// The collective engine decides when all of this instant is in.
  void settle_soon() {
    if (settling_) return;
    settling_ = true;
    simulator_.after(0, [this] {
      settling_ = false;
      with_collectives([&] { collectives_.settled(); });
    });
  }
  void look_around() {
    settle_soon();
    if (told_ || !nodes_.finished()) return;
    told_ = true;
    simulator_.check(weft_net_finish(simulator_.net, static_cast<int>(rank_)));
  }

  Simulator& simulator_;
  const uint32_t rank_;
  std::unique_ptr<weft::trace::TraceFeeder> feeder_;
  weft::collectives::CollectiveEngine collectives_;
  weft::graph::RankEngine nodes_;
  std::unordered_map<uint32_t, weft::trace::NodeIndex> running_;  ///< by stream
  bool in_collectives_ = false;
  bool settling_ = false;
  bool told_ = false;
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "trace_job MACHINE.yaml TRACE_PREFIX [GROUPS]\n";
    return 2;
  }
  try {
    const weft::Config config = weft::load_config(argv[1]);
    const weft::trace::JobTrace traces =
        weft::trace::open_job(argv[2], config.npus(), argc == 4 ? argv[3] : "", false);
    const weft_net_options options{sizeof options, WEFT_NET_DONE_SENT, WEFT_NET_MATCH_EXACT, nullptr};
    weft_net* const net = weft_net_open(argv[1], &options);
    if (net == nullptr) throw std::runtime_error(weft_net_error(nullptr));
    Simulator simulator{net, traces, {config, traces, weft::graph::Folding(traces, "all are simulated")}, {}};
    for (uint32_t r = 0; r < config.npus(); ++r)
      simulator.hosts.push_back(std::make_unique<Host>(simulator, config, r));
    for (const auto& host : simulator.hosts) host->start();
    const int state = weft_net_run_until(net, WEFT_NET_FOREVER);
    simulator.check(state);
    if (state != WEFT_NET_FINISHED) {
      std::cerr << "stalled:\n" << weft_net_pending(net) << "\n";
      return 1;
    }
    Picoseconds end = 0;
    for (const auto& host : simulator.hosts) end = std::max(end, host->finished_at());
    std::cout << "finished at " << end << " ps\n";
    return weft_net_close(net) == WEFT_NET_OK ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
