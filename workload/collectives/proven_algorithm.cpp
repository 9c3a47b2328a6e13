// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/proven_algorithm.h"

#include <fmt/format.h>

namespace weft::collectives {
namespace {

/// What would make the rounds meaningless: members and blocks that there are not. Empty: nothing.
std::string out_of_range(const PhaseRounds& rounds) {
  const size_t n = rounds.size();
  for (size_t me = 0; me < n; ++me) {
    for (size_t r = 0; r < rounds[me].size(); ++r) {
      for (const RoundSend& send : rounds[me][r].sends) {
        const auto where = [&] { return fmt::format("member {}, round {}: ", me, r); };
        if (send.to >= n || send.to == me)
          return where() + fmt::format("a send to member {} of {}", send.to, n);
        if (send.at_round >= rounds[send.to].size())
          return where() + fmt::format("a send for round {} of member {}, which has {}", send.at_round,
                                       send.to, rounds[send.to].size());
        if (send.blocks.first >= n || send.blocks.count > n)
          return where() +
                 fmt::format("{} blocks from block {} of {}", send.blocks.count, send.blocks.first, n);
      }
    }
  }
  return {};
}

}  // namespace

std::string ProvenAlgorithm::disproof(const PhaseShape& shape, uint32_t& block) const {
  if (shape.n > kMostProven) return {};
  const uint32_t root = rooted(shape.op) ? shape.root : 0;
  const auto [it, fresh] = proven_.try_emplace({shape.op, shape.n, root});
  Verdict& verdict = it->second;
  // Chunks can differ (variant), and a ring's directions take turns (reverse).
  for (uint32_t kind = 0; fresh && kind < 4 && verdict.text.empty(); ++kind) {
    PhaseRounds rounds(shape.n);
    for (uint32_t me = 0; me < shape.n; ++me) {
      const PhaseShape member{shape.op, shape.n, me, root, (kind & 1) != 0, kind >> 1};
      rounds[me].resize(algorithm_.rounds(member));
      for (uint32_t r = 0; r < rounds[me].size(); ++r) algorithm_.round(member, r, rounds[me][r]);
    }
    verdict.text = out_of_range(rounds);
    if (verdict.text.empty()) verdict.text = disprove(rounds, shape.op, root, &verdict.block);
  }
  if (verdict.text.empty()) return {};
  block = verdict.block;
  return fmt::format("the collective algorithm '{}' does not do what {} of {} members is defined to do: {}",
                     name(), to_string(shape.op), shape.n, verdict.text);
}

}  // namespace weft::collectives
