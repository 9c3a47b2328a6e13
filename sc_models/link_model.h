// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What stands in a link at `message` fidelity: RTL of a retimer, a link layer or a wire, or a model in C++.
// It gets every message at the link's receiving end, with the link's time in it, and puts it in again, then
// or later. Both directions.

#ifndef WEFT_SC_MODELS_LINK_MODEL_H
#define WEFT_SC_MODELS_LINK_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>

#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "sc_models/component.h"
#include "tlm_interconnect/border/border.h"
#include "tlm_interconnect/ports/link.h"

namespace weft {

/// The link that a model stands in. `pool`, `elements` and `type` outlive the model.
struct LinkContext {
  std::string name;  ///< of the link's direction that leads away from its initiator
  fabric::PacketPool& pool;
  fabric::CrossingElements* elements = nullptr;  ///< null: messages carry sizes only
  fabric::LinkType* type = nullptr;              ///< rate and latency of both directions
};

class LinkModel : public sc_core::sc_module, public Component {
 public:
  ~LinkModel() override;

  /// Stands for the module at the target side: bound by the link's initiator.
  fabric::fabric_target_socket& near() { return *near_.target(); }
  /// Stands for the module at the initiator side: to be bound to the link's target.
  fabric::fabric_initiator_socket& far() { return *far_.initiator(); }

  /// Messages that are in it.
  virtual size_t in_flight() const = 0;
  uint64_t crossed() const { return near_.left() + far_.left(); }
  void count(Counters& counters) const final { counters.in_flight += in_flight(); }

 protected:
  LinkModel(sc_core::sc_module_name name, const LinkContext& context);

  /// A message has left the fabric; its head arrives at `crossing.first` (>= now). `forward`: it comes from
  /// the initiator's side. Answer by pass().
  virtual void cross(bool forward, const fabric::Crossing& crossing) = 0;
  /// The message goes on; its head is not in the past. What `first` is later than it was has been waited.
  void pass(bool forward, const fabric::Crossing& crossing) { (forward ? far_ : near_).enter(crossing); }

 private:
  fabric::Border near_;
  fabric::Border far_;
};

using LinkMaker = std::function<std::unique_ptr<LinkModel>(
    sc_core::sc_module_name name, const LinkContext& context, Parameters& parameters)>;

/// The models of links there are.
NamedRegistry<LinkMaker>& link_models();

/// A model of the link. `owner` begins messages: the key. Errors: UserError(usage).
std::unique_ptr<LinkModel> make_link(const std::string& implementation, const std::string& owner,
                                     const char* name, const LinkContext& context);

}  // namespace weft

#endif
