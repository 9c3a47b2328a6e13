// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_NCCL_TESTS_TEXT_H
#define WEFT_SC_MAIN_NCCL_TESTS_TEXT_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"
#include "sc_models/run_result.h"

namespace weft::cli {

/// A measured size, as nccl-tests prints it.
struct NcclTestsRow {
  CollectiveRow row;
  bool verified = false;  ///< its elements were compared
};

/// The output of nccl-tests 2.13 and later for these sizes: header, ranks, rows, and the lines below. `asked`
/// has the sizes (comm_size) that were to run: the header is of all of them, also when the run did not get so
/// far. Out-of-place and in-place times are the same. `#wrong` is N/A unless elements were compared. Sizes
/// are those of nccl-tests: of an all-gather that of the output. A run that did not finish lacks the lines
/// below the rows, so that its readers find out.
std::string nccl_tests_text(const Config& config, CollectiveOp op, uint32_t root,
                            const std::vector<uint64_t>& asked, const std::vector<NcclTestsRow>& rows,
                            bool finished);

}  // namespace weft::cli

#endif
