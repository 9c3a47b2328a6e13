// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The parts of a machine as processes of this computer: split() forks. Transfers go through rings of shared
// memory, one for each pair of parts and parity of the window, so that one meeting a window is enough: what
// is written in a window is read in the next one, and written again in the one after that.

#ifndef WEFT_PARTS_PROCESS_PARTS_H
#define WEFT_PARTS_PROCESS_PARTS_H

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "parts/parts.h"

namespace weft::parts {

class ProcessParts final : public Parts {
 public:
  /// Throws UserError: there is not enough shared memory.
  explicit ProcessParts(Cut cut);
  ~ProcessParts() override;
  ProcessParts(const ProcessParts&) = delete;
  ProcessParts& operator=(const ProcessParts&) = delete;

  /// This process becomes part 0; the others end in leave(), or when this one ends.
  std::string split() override;
  void post(uint32_t part, const PartTransfer& transfer) override;
  std::vector<std::string> gather(std::string own) override;
  [[noreturn]] void leave() override;
  [[noreturn]] void fail(ExitCode code, const std::string& text) override;

 private:
  struct Board;
  struct Ring {
    uint64_t count = 0;
    uint64_t earliest = kNever;  ///< when the first of them acts
  };
  void exchange(Word own) override;
  Batch inbox(uint32_t from) const override;
  void end_others(const std::string& why) override;

  Ring& ring_at(uint32_t from, uint32_t to, uint32_t parity) const;
  static PartTransfer* transfers(const Ring& ring);
  void wait_for_all();
  void check_others();
  [[noreturn]] void tell_failure();

  Board* board_ = nullptr;
  char* rings_ = nullptr;
  uint64_t ring_bytes_ = 0;
  uint32_t write_ = 0;  ///< parity
  uint32_t read_ = 1;
  std::vector<pid_t> others_;  ///< of part 0: by part - 1; 0: it is over
  std::vector<int> pipes_;     ///< of part 0: from the others; of these, one to part 0
};

}  // namespace weft::parts

#endif
