// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Weft as a network of ASTRA-sim: one object for each rank, all on one machine. The header of ASTRA-sim comes
// from its tree (or from stub/, which has the same methods).
//
//     WeftNetworks networks("machine.yaml", options);
//     for (int r = 0; r < networks.ranks(); ++r) sys[r] = new Sys(..., &networks.of(r), ...);
//     for (..) sys[r]->workload->fire();
//     networks.run();

#ifndef WEFT_EXAMPLES_NETWORK_INTERFACE_WEFT_NETWORK_H
#define WEFT_EXAMPLES_NETWORK_INTERFACE_WEFT_NETWORK_H

#include <weft_net.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"

class WeftNetwork final : public AstraSim::AstraNetworkAPI {
 public:
  WeftNetwork(weft_net* net, int rank) : AstraNetworkAPI(rank), net_(net) {}

  int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request* request,
               void (*msg_handler)(void* fun_arg), void* fun_arg) override;
  int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request* request,
               void (*msg_handler)(void* fun_arg), void* fun_arg) override;
  /// `delta` is in ns, whatever its unit says, as ASTRA-sim's own networks take it.
  void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) override;
  AstraSim::timespec_t sim_get_time() override;
  /// GB/s.
  double get_BW_at_dimension(int dim) override;
  void sim_notify_finished() override;

 private:
  weft_net* net_;
};

class WeftNetworks {
 public:
  /// Throws std::runtime_error.
  WeftNetworks(const std::string& machine, const weft_net_options& options);
  ~WeftNetworks();
  WeftNetworks(const WeftNetworks&) = delete;
  WeftNetworks& operator=(const WeftNetworks&) = delete;

  int ranks() const { return static_cast<int>(networks_.size()); }
  WeftNetwork& of(int rank) { return *networks_[static_cast<size_t>(rank)]; }
  /// Until every rank has finished. Throws std::runtime_error when nothing moves before that.
  void run();

 private:
  weft_net* net_;
  std::vector<std::unique_ptr<WeftNetwork>> networks_;
};

#endif
