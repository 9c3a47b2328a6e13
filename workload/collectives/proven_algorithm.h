// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An algorithm of somebody else: it runs as it is, but its rounds are carried out on contributions before
// they are used (proof.h). It is never folded: that would need a proof that its members do the same.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PROVEN_ALGORITHM_H
#define WEFT_WORKLOAD_COLLECTIVES_PROVEN_ALGORITHM_H

#include <map>
#include <string>
#include <tuple>

#include "workload/collectives/algorithm.h"
#include "workload/collectives/proof.h"

namespace weft::collectives {

/// Proofs take time in proportion to n^3; algorithms are taken as they are for more members.
constexpr uint32_t kMostProven = 256;

class ProvenAlgorithm final : public Algorithm {
 public:
  /// `algorithm` outlives it.
  explicit ProvenAlgorithm(const Algorithm& algorithm) : algorithm_(algorithm) {}

  const char* name() const override { return algorithm_.name(); }
  std::string refuses(CollectiveOp op, uint32_t n) const override { return algorithm_.refuses(op, n); }
  uint32_t rounds(const PhaseShape& shape) const override { return algorithm_.rounds(shape); }
  void round(const PhaseShape& shape, uint32_t r, Round& out) const override {
    algorithm_.round(shape, r, out);
  }
  bool expects(const PhaseShape& shape, uint32_t r, uint32_t from) const override {
    return algorithm_.expects(shape, r, from);
  }
  std::string disproof(const PhaseShape& shape, uint32_t& block) const override;

 private:
  struct Verdict {
    std::string text;
    uint32_t block = ~0u;
  };
  const Algorithm& algorithm_;
  mutable std::map<std::tuple<CollectiveOp, uint32_t, uint32_t>, Verdict> proven_;  ///< operation, n, root
};

}  // namespace weft::collectives

#endif
