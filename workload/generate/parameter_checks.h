// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Checks of a generator's parameters. Private to the generators of training steps.

#ifndef WEFT_WORKLOAD_GENERATE_PARAMETER_CHECKS_H
#define WEFT_WORKLOAD_GENERATE_PARAMETER_CHECKS_H

#include <cstdint>
#include <string>

namespace weft::generate {

/// Each throws UserError(usage) that begins with "weft generate GENERATOR" and says what to change.
class ParameterChecks {
 public:
  explicit ParameterChecks(const char* generator) : generator_(generator) {}

  [[noreturn]] void refuse(const std::string& message) const;
  void range(const char* what, uint64_t value, uint64_t low, uint64_t high) const;
  /// `value` is a multiple of `n`, the value of `of`.
  void multiple(const char* what, uint64_t value, const char* of, uint64_t n) const;
  /// Every `every`-th of the layers has experts: one has.
  void experts_somewhere(const char* what, uint64_t every, uint64_t layers) const;

 private:
  const char* generator_;
};

}  // namespace weft::generate

#endif
