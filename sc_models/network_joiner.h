// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Joins the links of one packet network: cuts those that are to be cut, and puts blocks in the place of
// routers where `implementations` says so. Who has the network says what its routers and links are called.

#ifndef WEFT_SC_MODELS_NETWORK_JOINER_H
#define WEFT_SC_MODELS_NETWORK_JOINER_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sc_models/link_cuts.h"
#include "sc_models/router_model.h"
#include "tlm_interconnect/packet/link_joiner.h"

namespace weft {

/// What stands in the place of routers, and the ends of these routers, which nothing uses any more.
struct RouterBlocks {
  std::vector<std::unique_ptr<RouterModel>> models;
  std::vector<std::unique_ptr<ParkedEnd>> parked;

  void count(Counters& counters) const;
  /// Why they hold flits, a line each.
  std::string stall_text() const;
};

class NetworkJoiner : public packet::LinkJoiner {
 public:
  /// Both outlive the network.
  NetworkJoiner(LinkCuts& cuts, RouterBlocks& blocks) : cuts_(cuts), blocks_(blocks) {}

  packet::Joint join(const packet::LinkToJoin& link, fabric::fabric_initiator_socket& from,
                     fabric::fabric_target_socket& to) final;

 protected:
  /// As `implementations` names the router.
  virtual std::string block_name(const packet::LinkToJoin& link, uint32_t router) const = 0;
  /// Of the link that leaves a router by a port.
  virtual std::string link_name(const packet::LinkToJoin& link, uint32_t router, uint32_t port) const = 0;
  /// Recordings can be made at the network's routers.
  virtual bool recordable() const { return true; }

 private:
  RouterModel* block(const packet::LinkToJoin& link, uint32_t router);
  fabric::fabric_initiator_socket& park(RouterModel& model, fabric::fabric_initiator_socket& of,
                                        uint32_t port);
  fabric::fabric_target_socket& park(RouterModel& model, fabric::fabric_target_socket& of, uint32_t port);
  std::string next_parked() const;

  LinkCuts& cuts_;
  RouterBlocks& blocks_;
  std::map<uint32_t, RouterModel*> at_;  ///< by router; null: it stays
};

}  // namespace weft

#endif
