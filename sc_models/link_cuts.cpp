// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/link_cuts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

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

LinkCuts::LinkCuts(const Config& config, fabric::PacketPool& pool, collectives::DataContext* data)
    : selected_(selection(config)),
      pool_(pool),
      elements_(data == nullptr ? nullptr : std::make_unique<PayloadElements>(data->payloads())) {}

void LinkCuts::join(fabric::fabric_initiator_base& from, fabric::fabric_target_base& to, const Names& names) {
  if (none() || !selects(names())) {
    fabric::join(from, to);
    return;
  }
  fabric::Loopback& loopback = add();
  fabric::join(from, loopback.near());
  fabric::join(loopback.far(), to);
}

bool LinkCuts::selects(const std::vector<std::string>& names) {
  bool any = false;
  for (const std::string& name : names) any = selected_.matches(name) || any;
  return any;
}

std::string LinkCuts::next_name() const {
  return fmt::format("border{}", loopbacks_.size() + pairs_.size() + packets_.size());
}

fabric::Loopback& LinkCuts::add() {
  loopbacks_.push_back(std::make_unique<fabric::Loopback>(next_name().c_str(), pool_, elements_.get()));
  return *loopbacks_.back();
}

fabric::fabric_initiator_base& LinkCuts::join_pairs(fabric::fabric_initiator_base& from,
                                                    const PairLinks& links) {
  std::set<uint32_t> cut;
  for (const auto& [member, names] : links)
    if (selects(names())) cut.insert(member);
  if (cut.empty()) return from;
  pairs_.push_back(
      std::make_unique<fabric::PairLoopback>(next_name().c_str(), std::move(cut), pool_, elements_.get()));
  fabric::join(from, pairs_.back()->near);
  return pairs_.back()->far;
}

bool LinkCuts::join_packets(fabric::fabric_initiator_socket& from, fabric::fabric_target_socket& to,
                            const fabric::PacketLinkTerms& terms, fabric::PacketPool& pool,
                            const Names& names) {
  if (none() || !selects(names())) {
    from.bind(to);
    return false;
  }
  packets_.push_back(std::make_unique<fabric::PacketLoopback>(next_name().c_str(), terms, pool));
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
