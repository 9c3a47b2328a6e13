// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Data-carrying mode (`run.data`) of programs: one member's buffers in one call. Messages carry the elements
// that their program names; the output is then compared with the operation's definition as that of any other
// collective (collectives::DataCheck).

#ifndef WEFT_WORKLOAD_PROGRAMS_PROGRAM_DATA_H
#define WEFT_WORKLOAD_PROGRAMS_PROGRAM_DATA_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "workload/collectives/data.h"
#include "workload/programs/program.h"

namespace weft::library {

class ProgramData {
 public:
  /// `output` is the member's, and knows its inputs; all outlive the object.
  ProgramData(collectives::DataContext& context, const Program& program,
              std::shared_ptr<collectives::CollectiveData> output);

  /// Of a switch, which has no inputs and no output.
  ProgramData(collectives::DataContext& context, const Program& program);

  /// The member begins: takes its inputs.
  void load();
  /// The elements of a message of this member; the handle goes with the message, and ownership with it.
  uint32_t gather(const Send& send);
  /// A message for this member has arrived: it is released.
  void apply(const Send& send, uint32_t handle);
  /// The member has finished.
  std::shared_ptr<const collectives::CollectiveData> finish();

 private:
  void keep_own();

  collectives::DataContext& context_;
  const Program& program_;
  std::shared_ptr<collectives::CollectiveData> output_;  ///< null: of a switch
  std::set<uint64_t> contributed_;                       ///< of a switch: where contributions have come
  std::vector<std::byte> work_;
  std::vector<std::byte> out_;  ///< with Buffers::apart
  std::string defect_;
};

}  // namespace weft::library

#endif
