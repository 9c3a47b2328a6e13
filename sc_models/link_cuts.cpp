// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/link_cuts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void LinkCuts::join(fabric::fabric_initiator_base& from, fabric::fabric_target_base& to,
                    const std::function<std::vector<std::string>()>& names) {
  if (selected_.empty() || !cuts(names())) {
    fabric::join(from, to);
    return;
  }
  fabric::Loopback& loopback = add();
  fabric::join(from, loopback.near());
  fabric::join(loopback.far(), to);
}

bool LinkCuts::cuts(const std::vector<std::string>& names) {
  bool any = false;
  for (const std::string& name : names) any = selected_.matches(name) || any;
  return any;
}

fabric::Loopback& LinkCuts::add() {
  loopbacks_.push_back(std::make_unique<fabric::Loopback>(fmt::format("border{}", loopbacks_.size()).c_str(),
                                                          pool_, elements_.get()));
  return *loopbacks_.back();
}

void LinkCuts::check(const std::string& origin) const {
  const std::vector<std::string> unmatched = selected_.unmatched();
  if (unmatched.empty()) return;
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: key `run.cut_links`: '{}' matches no link that can be cut: one of a Ring, Mesh, "
                  "Switch, tree or graph at `message` fidelity, by its name in links.csv (for example "
                  "`*.nmu0.d0_plus`)",
                  origin, fmt::join(unmatched, "', '")));
}

uint64_t LinkCuts::crossed() const {
  uint64_t sum = 0;
  for (const auto& loopback : loopbacks_) sum += loopback->crossed();
  return sum;
}

}  // namespace weft
