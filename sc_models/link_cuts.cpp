// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/link_cuts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "sc_models/message_crossings.h"
#include "sc_models/npu_model.h"

namespace weft {
namespace {

vcd::Glob selection(const Config& config) {
  if (config.run.cut_links.empty()) return {};
  try {
    return vcd::Glob(config.run.cut_links);
  } catch (const vcd::GlobError& e) {
    throw UserError(ExitCode::usage, fmt::format("key `run.cut_links`: {}", e.what()));
  }
}

}  // namespace

LinkCuts::LinkCuts(const Config& config, ModuleChoices& choices, fabric::PacketPool& pool,
                   collectives::DataContext* data, BoundaryListener* listener)
    : choices_(choices),
      listener_(listener),
      selected_(selection(config)),
      pool_(pool),
      elements_(data == nullptr ? nullptr : std::make_unique<PayloadElements>(data->payloads())) {}

LinkCuts::~LinkCuts() = default;

void LinkCuts::join(fabric::fabric_initiator_base& from, fabric::fabric_target_base& to, const Names& names) {
  if (none()) {
    fabric::join(from, to);
    return;
  }
  const JoinedLink link = names();
  fabric::CrossingWatch watch = listener_ == nullptr ? fabric::CrossingWatch() : listener_->watch(link);
  LinkModel* const model = model_of(link);
  // A recorded border stands before a model: at the initiator's side.
  const bool cut = selects(link.names) || watch;
  fabric::fabric_initiator_base* last = &from;
  if (cut) {
    loopbacks_.push_back(
        std::make_unique<fabric::Loopback>(next_name().c_str(), pool_, elements_.get(), std::move(watch)));
    fabric::join(*last, loopbacks_.back()->near());
    last = &loopbacks_.back()->far();
  }
  if (model != nullptr) {
    fabric::join(*last, model->near());
    last = &model->far();
  }
  fabric::join(*last, to);
}

void LinkCuts::watch_messages(NmuModel& nmu, const std::string& name) {
  if (listener_ == nullptr) return;
  fabric::CrossingWatch watch = listener_->watch_messages({BlockEnd::Kind::nmu, name});
  if (!watch) return;
  messages_.push_back(std::make_unique<MessageCrossings>(pool_, elements_.get(), std::move(watch)));
  // A model that tells nothing is recorded by its links alone.
  if (!nmu.watch_messages(*messages_.back())) messages_.pop_back();
}

void LinkCuts::watch_accesses(MemoryTarget& memory) const {
  if (listener_ == nullptr) return;
  if (MemoryTarget::AccessWatch watch = listener_->watch_accesses(memory)) memory.watch(std::move(watch));
}

void LinkCuts::watch_nodes(NpuModel& npu) const {
  NodeWatch* const watch = listener_ == nullptr ? nullptr : listener_->watch_nodes(npu.basename());
  if (watch != nullptr && !npu.watch_nodes(*watch)) listener_->no_nodes(npu.basename());
}

/// What stands in the link; null: nothing.
LinkModel* LinkCuts::model_of(const JoinedLink& link) {
  for (size_t i = 0; i < link.names.size() && choices_.of_links(); ++i) {
    const std::string name = link.names[i].substr(link.names[i].find('.') + 1);  // without the machine's
    const ModuleChoices::Chosen chosen = choices_.of(ModuleKind::link, name, {});
    if (chosen.implementation.empty()) continue;
    const std::string module = "link" + std::to_string(models_.size());
    models_.push_back(make_link(chosen.implementation, chosen.owner, module.c_str(),
                                {link.names[0], pool_, elements_.get(), link.type}));
    return models_.back().get();
  }
  return nullptr;
}

bool LinkCuts::selects(const std::vector<std::string>& names) {
  bool any = false;
  for (const std::string& name : names) any = selected_.matches(name) || any;
  return any;
}

std::string LinkCuts::next_name() const {
  return fmt::format("border{}", loopbacks_.size() + pairs_.size() + packets_.size());
}

fabric::fabric_initiator_base& LinkCuts::join_pairs(fabric::fabric_initiator_base& from,
                                                    const PairLinks& links) {
  std::set<uint32_t> cut;
  std::map<uint32_t, fabric::CrossingWatch> watches;
  for (const auto& [member, names] : links) {
    const JoinedLink link = names();
    if (selects(link.names)) cut.insert(member);
    fabric::CrossingWatch watch = listener_ == nullptr ? fabric::CrossingWatch() : listener_->watch(link);
    if (!watch) continue;
    watches.emplace(member, std::move(watch));
    cut.insert(member);
  }
  if (cut.empty()) return from;
  pairs_.push_back(std::make_unique<fabric::PairLoopback>(next_name().c_str(), std::move(cut), pool_,
                                                          elements_.get(), std::move(watches)));
  fabric::join(from, pairs_.back()->near);
  return pairs_.back()->far;
}

bool LinkCuts::join_packets(fabric::fabric_initiator_socket& from, fabric::fabric_target_socket& to,
                            const fabric::PacketLinkTerms& terms, fabric::PacketPool& pool,
                            const Names& names) {
  const auto bind = [&] {
    from.bind(to);
    return false;
  };
  if (none()) return bind();
  JoinedLink link = names();
  link.terms = &terms;
  fabric::FlitWatch watch = listener_ == nullptr ? fabric::FlitWatch() : listener_->watch_packets(link);
  if (!selects(link.names) && !watch) return bind();
  if (watch) {
    // In a packet network a packet names its message by the handle; who looks from outside needs the id.
    watch = [this, told = std::move(watch)](bool forward, const fabric::FlitCrossing& crossing) {
      if (!crossing.has_head()) return told(forward, crossing);
      fabric::FlitCrossing named = crossing;
      const fabric::Packet& message = pool_[static_cast<fabric::PacketRef>(crossing.head.id_low)];
      named.head.id_low = message.id_low;
      named.head.id_high = message.id_high;
      told(forward, named);
    };
  }
  packets_.push_back(
      std::make_unique<fabric::PacketLoopback>(next_name().c_str(), terms, pool, std::move(watch)));
  from.bind(packets_.back()->near());
  packets_.back()->far().bind(to);
  return true;
}

void LinkCuts::check(const std::string& origin,
                     const std::function<std::vector<std::string>()>& wireless) const {
  const std::vector<std::string> unmatched = selected_.unmatched();
  if (unmatched.empty()) return;
  const std::vector<std::string> names = wireless();
  for (const std::string& pattern : unmatched) {
    vcd::Glob glob(pattern);
    for (const std::string& name : names) {
      if (!glob.matches(name)) continue;
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: key `run.cut_links`: '{}' matches only links that cannot be cut, such as {}: at "
                      "`analytical` fidelity messages do not pass the links one by one; give the dimension "
                      "`fidelity: message` or `fidelity: packet`",
                      origin, pattern, name));
    }
  }
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: key `run.cut_links`: '{}' matches no link; links have the names of links.csv, for "
                  "example `*.nmu0.d0_plus`",
                  origin, fmt::join(unmatched, "', '")));
}

uint64_t LinkCuts::crossed() const {
  uint64_t sum = 0;
  for (const auto& loopback : loopbacks_) sum += loopback->crossed();
  for (const auto& pair : pairs_) sum += pair->crossed();
  for (const auto& packets : packets_) sum += packets->crossed();
  return sum;
}

size_t LinkCuts::cut() const {
  size_t sum = loopbacks_.size() + packets_.size();
  for (const auto& pair : pairs_) sum += pair->links();
  return sum;
}

}  // namespace weft
