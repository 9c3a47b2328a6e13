// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A small system layer over ASTRA-sim's network class: each rank computes, and then takes part in a ring
// all-reduce. It sees the class only, as ASTRA-sim's system layer does.
//
//     ring_all_reduce machine.yaml BYTES COMPUTE_NS [sent] [bytes]

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "weft_network.h"

namespace {

class Rank {
 public:
  Rank(AstraSim::AstraNetworkAPI& network, int ranks, uint64_t bytes)
      : network_(network), ranks_(ranks), part_(bytes / static_cast<uint64_t>(ranks)) {}

  void fire(double compute_ns) {
    network_.sim_schedule(
        {AstraSim::US, compute_ns}, [](void* self) { static_cast<Rank*>(self)->step(); }, this);
  }
  double finished_ns() const { return finished_ns_; }

 private:
  void step() {
    if (step_ == 2 * (ranks_ - 1)) {
      finished_ns_ = static_cast<double>(network_.sim_get_time().time_val);
      network_.sim_notify_finished();
      return;
    }
    ++step_;
    const int next = (network_.rank + 1) % ranks_;
    const int before = (network_.rank + ranks_ - 1) % ranks_;
    network_.sim_send(
        nullptr, part_, 0, next, step_, nullptr, [](void*) {}, nullptr);
    network_.sim_recv(
        nullptr, part_, 0, before, step_, nullptr, [](void* self) { static_cast<Rank*>(self)->step(); },
        this);
  }

  AstraSim::AstraNetworkAPI& network_;
  const int ranks_;
  const uint64_t part_;
  int step_ = 0;
  double finished_ns_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "ring_all_reduce MACHINE.yaml BYTES COMPUTE_NS [sent] [bytes]\n");
    return 2;
  }
  try {
    weft_net_options options{sizeof options, WEFT_NET_DONE_ARRIVAL, WEFT_NET_MATCH_EXACT, nullptr};
    for (int i = 4; i < argc; ++i) {
      if (std::strcmp(argv[i], "sent") == 0) options.send_done = WEFT_NET_DONE_SENT;
      if (std::strcmp(argv[i], "bytes") == 0) options.match = WEFT_NET_MATCH_BYTES;
    }
    WeftNetworks networks(argv[1], options);
    std::vector<std::unique_ptr<Rank>> ranks;
    for (int r = 0; r < networks.ranks(); ++r)
      ranks.push_back(
          std::make_unique<Rank>(networks.of(r), networks.ranks(), std::strtoull(argv[2], nullptr, 10)));
    for (const auto& rank : ranks) rank->fire(std::strtod(argv[3], nullptr));
    networks.run();
    std::printf("%d ranks, %.1f GB/s: finished at %.3f ns\n", networks.ranks(),
                networks.of(0).get_BW_at_dimension(0), ranks[0]->finished_ns());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ring_all_reduce: %s\n", e.what());
    return 1;
  }
}
