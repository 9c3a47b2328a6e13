// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Checks that a run fits into the available memory.

#ifndef WEFT_SC_MAIN_MEMORY_CHECK_H
#define WEFT_SC_MAIN_MEMORY_CHECK_H

#include <functional>
#include <string>

#include "configs/config.h"
#include "sc_main/machine_memory.h"
#include "sc_models/memory_estimate.h"

namespace weft::cli {

/// The memory that was available to this process when the object was made.
class MemoryRoom {
 public:
  /// `force`: check() only warns.
  explicit MemoryRoom(bool force);

  /// Throws UserError(trace) for a run that needs more than is available. The message says how much, for
  /// what, and what to do.
  void check(const Config& config, const MemoryEstimate& estimate) const;
  /// The same: `name` begins the message, `remedies` is what to do.
  void check(const std::string& name, const MemoryEstimate& estimate,
             const std::function<std::string()>& remedies) const;

  /// "22.1 GiB available on this machine"; "" if it is not known.
  std::string text() const;

 private:
  bool force_;
  AvailableMemory available_;  ///< with what the process held already
};

/// "3.5 GiB", "12 MiB".
std::string memory_size(double bytes);

/// "about 3.5 GiB (NPUs 3.1 GiB, results 0.3 GiB)".
std::string memory_text(const MemoryEstimate& estimate);

}  // namespace weft::cli

#endif
