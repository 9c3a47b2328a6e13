// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Simulators of hosts at ranks of a machine: each sends and gets Ethernet frames by a Channel. The machine is
// the network between them.
//
// Time goes on only to where every simulator is known not to send anything more: one picosecond before the
// lowest of their last stamps. So the order of what happens does not depend on which process is faster.
//
// Frames go where a switch would send them: to the rank from which the destination's address has been seen;
// to all other joined ranks while it has not, and for multicast addresses.

#ifndef WEFT_NETWORK_INTERFACE_REMOTE_REMOTE_HOSTS_H
#define WEFT_NETWORK_INTERFACE_REMOTE_REMOTE_HOSTS_H

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "network_interface/network.h"
#include "network_interface/remote/channel.h"

namespace weft::network_interface {

class RemoteHosts {
 public:
  /// `network` outlives it.
  explicit RemoteHosts(Network& network) : network_(network) {}
  RemoteHosts(const RemoteHosts&) = delete;
  RemoteHosts& operator=(const RemoteHosts&) = delete;

  /// Waits for the simulator at this rank. Before the first run, once a rank. Throws as Channel does.
  void join(uint32_t rank, const ChannelOptions& options);
  bool empty() const { return hosts_.empty(); }
  bool has(uint32_t rank) const { return hosts_.count(rank) != 0; }

  /// As Network::run_until(), in step with the simulators. While one of them runs the network is not idle.
  int run_until(Picoseconds until);

 private:
  /// A frame under way: from a simulator's stamp to the machine, and through it.
  struct Frame {
    RemoteHosts* hosts = nullptr;
    uint32_t source = 0;
    uint32_t destination = 0;
    std::shared_ptr<const std::vector<uint8_t>> bytes;
    std::list<Frame>::iterator self;
  };
  Frame& keep(uint32_t source, uint32_t destination, std::shared_ptr<const std::vector<uint8_t>> bytes);
  Picoseconds take(Picoseconds until);
  void release_until(Picoseconds limit);
  bool running() const;
  static void came(void* frame);
  static void there(void* frame);
  void forward(const Frame& frame);
  void carry(const Frame& frame, uint32_t destination);

  Network& network_;
  std::map<uint32_t, std::unique_ptr<Channel>> hosts_;  ///< by rank
  std::map<uint64_t, uint32_t> rank_of_;                ///< by Ethernet address
  std::list<Frame> frames_;
  uint32_t carried_ = 0;
};

}  // namespace weft::network_interface

#endif
