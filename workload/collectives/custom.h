// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The algorithm `custom:PREFIX`: one program a member, read from Chakra traces PREFIX.<member>.et. The format
// is in docs/custom_collectives.md.

#ifndef WEFT_WORKLOAD_COLLECTIVES_CUSTOM_H
#define WEFT_WORKLOAD_COLLECTIVES_CUSTOM_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workload/collectives/algorithm.h"
#include "workload/collectives/proof.h"

namespace weft::collectives {

class CustomAlgorithm final : public Algorithm {
 public:
  /// Reads the programs of all n members. Throws UserError(trace), naming file and node, when a file is
  /// missing or malformed, a node is no send, receive or metadata, names a member or block that is none,
  /// depends on a node that is none, has no counterpart, or waits for itself (a deadlock, with the nodes on
  /// the cycle).
  static std::shared_ptr<const CustomAlgorithm> load(const std::string& prefix, uint32_t n);
  /// The file with the program of a member.
  static std::string file(const std::string& prefix, uint32_t member);

  const char* name() const override { return "custom"; }
  /// Empty, unless n is not the number of programs.
  std::string refuses(CollectiveOp op, uint32_t n) const override;
  uint32_t rounds(const PhaseShape& shape) const override;
  void round(const PhaseShape& shape, uint32_t r, Round& out) const override;
  bool expects(const PhaseShape& shape, uint32_t r, uint32_t from) const override;
  std::string disproof(const PhaseShape& shape, uint32_t& block) const override;

 private:
  CustomAlgorithm(std::string prefix, PhaseRounds rounds);

  std::string prefix_;
  PhaseRounds rounds_;
  std::vector<std::map<uint32_t, uint32_t>> last_;  ///< [member]: peer -> last round with a message from it
  struct Verdict {
    std::string text;
    uint32_t block = ~0u;
  };
  mutable std::map<std::pair<CollectiveOp, uint32_t>, Verdict> proven_;  ///< operation, root
};

}  // namespace weft::collectives

#endif
