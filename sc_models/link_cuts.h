// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Joins the fabric's sockets for Machine. Puts a border into each link that `run.cut_links` selects or that
// somebody records, and a model into those that `implementations` names.

#ifndef WEFT_SC_MODELS_LINK_CUTS_H
#define WEFT_SC_MODELS_LINK_CUTS_H

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "sc_models/boundary.h"
#include "sc_models/link_model.h"
#include "sc_models/module_choices.h"
#include "sc_models/payload_elements.h"
#include "tlm_interconnect/border/loopback.h"
#include "tlm_interconnect/border/packet_border.h"
#include "tlm_interconnect/border/pair_loopback.h"
#include "vcd/glob.h"
#include "workload/collectives/data.h"

namespace weft {

class MessageCrossings;
class NmuModel;
class NpuModel;

class LinkCuts {
 public:
  /// The link; its second name may be missing.
  using Names = std::function<JoinedLink()>;

  /// `choices` need not be constructed yet. `data`: of the machine; null: messages carry sizes only.
  /// `listener`: who records; null: nobody. All outlive the object.
  LinkCuts(const Config& config, ModuleChoices& choices, fabric::PacketPool& pool,
           collectives::DataContext* data, BoundaryListener* listener);
  ~LinkCuts();

  /// An NMU that is built, before its links are joined: the listener may want to see its messages.
  void watch_messages(NmuModel& nmu, const std::string& name);
  /// .. a memory's accesses.
  void watch_accesses(MemoryTarget& memory) const;
  /// .. an NPU's nodes, before its job is loaded.
  void watch_nodes(NpuModel& npu) const;
  /// Every link is just to be bound.
  bool none() const { return selected_.empty() && listener_ == nullptr && !choices_.of_links(); }
  ModuleChoices& choices() { return choices_; }
  /// Null: messages carry sizes only.
  fabric::CrossingElements* elements() { return elements_.get(); }
  /// Models that stand in links.
  const std::vector<std::unique_ptr<LinkModel>>& models() const { return models_; }

  /// Binds the ends of a link that carries messages, or a border between them.
  void join(fabric::fabric_initiator_base& from, fabric::fabric_target_base& to, const Names& names);
  /// .. of an NPU with a carrier that it shares with others. `links`: the carrier's members that it has links
  /// to, with these links' names. Returns what is to be bound to the carrier.
  using PairLinks = std::vector<std::pair<uint32_t, Names>>;
  fabric::fabric_initiator_base& join_pairs(fabric::fabric_initiator_base& from, const PairLinks& links);
  /// .. of a link of a packet network, whose pool is `pool`. True: it is cut.
  bool join_packets(fabric::fabric_initiator_socket& from, fabric::fabric_target_socket& to,
                    const fabric::PacketLinkTerms& terms, fabric::PacketPool& pool, const Names& names);

  /// Throws UserError(usage) for a pattern that selects no link with sockets of its own. `wireless`: the
  /// names of links that have none, at `analytical` fidelity.
  void check(const std::string& origin, const std::function<std::vector<std::string>()>& wireless) const;
  /// Messages, and packets of packet networks, that have crossed borders.
  uint64_t crossed() const;
  /// Links that are cut. A pair's are two.
  size_t cut() const;

 private:
  bool selects(const std::vector<std::string>& names);
  std::string next_name() const;
  LinkModel* model_of(const JoinedLink& link);

  ModuleChoices& choices_;
  BoundaryListener* const listener_;
  vcd::Glob selected_;
  fabric::PacketPool& pool_;
  std::unique_ptr<PayloadElements> elements_;
  std::vector<std::unique_ptr<MessageCrossings>> messages_;  ///< of NMUs that are watched
  std::vector<std::unique_ptr<LinkModel>> models_;
  std::vector<std::unique_ptr<fabric::Loopback>> loopbacks_;
  std::vector<std::unique_ptr<fabric::PairLoopback>> pairs_;
  std::vector<std::unique_ptr<fabric::PacketLoopback>> packets_;
};

}  // namespace weft

#endif
