// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Checks the outputs of a collective against its definition: what the members' inputs say, without any chunk,
// phase or block.

#ifndef WEFT_WORKLOAD_COLLECTIVES_DATA_CHECK_H
#define WEFT_WORKLOAD_COLLECTIVES_DATA_CHECK_H

#include <map>
#include <string>
#include <vector>

#include "workload/collectives/data.h"

namespace weft::collectives {

/// Of one collective; remembers the combined inputs of every line, so that its members share them.
class DataCheck {
 public:
  explicit DataCheck(const DataContext& context) : context_(context) {}

  /// Empty: every element of the member's output is right. Else one line that names the first wrong one:
  /// rank, chunk, element of the output, what was expected and what is there.
  /// `tolerance` 0: equal bits. Else, of sums: |got - exact| <= tolerance * sum of |inputs|.
  std::string check(const CollectiveData& data, double tolerance = 0);

  /// The output of a member by definition, bit by bit (sums in order of position, in one accumulator).
  std::vector<std::byte> expected(const CollectiveData& data);

  uint64_t elements() const { return elements_; }  ///< compared so far

 private:
  const std::vector<std::byte>& combined(const CollectiveData& data);
  void input(const CollectiveData& data, uint32_t position, uint64_t first, uint64_t bytes,
             std::byte* out) const;
  std::string compare_loosely(const CollectiveData& data, double tolerance);
  std::string describe(const CollectiveData& data, uint64_t element, const std::string& expected) const;

  const DataContext& context_;
  std::map<const DataLayout*, std::pair<std::shared_ptr<const DataLayout>, std::vector<std::byte>>> combined_;
  uint64_t elements_ = 0;
};

}  // namespace weft::collectives

#endif
