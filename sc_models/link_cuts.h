// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Joins the fabric's sockets for Machine. Puts a border into each link that `run.cut_links` selects.

#ifndef WEFT_SC_MODELS_LINK_CUTS_H
#define WEFT_SC_MODELS_LINK_CUTS_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_models/payload_elements.h"
#include "tlm_interconnect/border/loopback.h"
#include "vcd/glob.h"
#include "workload/collectives/data.h"

namespace weft {

class LinkCuts {
 public:
  /// `data`: of the machine; null: messages carry sizes only. All outlive the object.
  LinkCuts(const Config& config, fabric::PacketPool& pool, collectives::DataContext* data);

  /// Binds a link's sockets, or a border between them. `names`: of both directions, as in the results; first
  /// the one that leads away from the initiator. The second may be missing.
  void join(fabric::fabric_initiator_base& from, fabric::fabric_target_base& to,
            const std::function<std::vector<std::string>()>& names);

  /// Throws UserError(usage) for a pattern that selects no link with sockets of its own.
  void check(const std::string& origin) const;
  /// Messages that have crossed borders.
  uint64_t crossed() const;
  size_t cut() const { return loopbacks_.size(); }

 private:
  bool cuts(const std::vector<std::string>& names);
  fabric::Loopback& add();

  vcd::Glob selected_;
  fabric::PacketPool& pool_;
  std::unique_ptr<PayloadElements> elements_;
  std::vector<std::unique_ptr<fabric::Loopback>> loopbacks_;
};

}  // namespace weft

#endif
