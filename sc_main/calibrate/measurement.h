// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Measured times of a real machine's collectives: what `weft calibrate` and `weft compare` read.

#ifndef WEFT_SC_MAIN_CALIBRATE_MEASUREMENT_H
#define WEFT_SC_MAIN_CALIBRATE_MEASUREMENT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::calibrate {

/// One size. Sizes are those of nccl-tests: of an all-gather the output of all ranks, of all others the
/// larger of a rank's input and output.
struct MeasuredRow {
  uint64_t bytes = 0;
  double us = 0;
  uint32_t number = 0;  ///< from 1, in the table; rows that were dropped keep their number
};

/// One table: the rows of one operation on one set of ranks, sizes ascending.
struct Measurement {
  std::string file;
  std::optional<CollectiveOp> operation;
  std::optional<CollectiveOp> named;  ///< the operation that the file names; none: it was found otherwise
  std::string program;                ///< all_reduce_perf; "" if the file does not say
  std::string datatype;               ///< float
  std::string version;                ///< of the library, as the file writes it
  uint32_t ranks = 0;                 ///< 0: the file does not say
  uint32_t nodes = 0;                 ///< 0: the file does not say
  std::vector<MeasuredRow> rows;
  std::vector<std::string> remarks;  ///< what was dropped or replaced, and why
};

enum class Column : uint8_t { in_place, out_of_place };

struct ReadOptions {
  std::optional<CollectiveOp> operation;  ///< in place of what the file says; a remark tells of that
  Column column = Column::in_place;       ///< the other one where a table has only that
  bool incomplete = false;                ///< accept a log that was cut
};

/// Reads a log of nccl-tests or rccl-tests (nccl_log.h), or a table in JSON (measured_json.h). Drops rows
/// with wrong results and outliers, and says so in the remarks. Throws UserError(usage) that names the file
/// (and the line) for whatever is neither, is cut, or has no rows left.
std::vector<Measurement> read_measurements(const std::string& path, const ReadOptions& options);

/// Sorts rows by size, takes the median of rows of the same size, and drops every row that took more than
/// three times as long as both its neighbours: the first use of a connection, or another job. The last row
/// has one neighbour, which may be as much faster as its size is smaller.
void clean(Measurement& table);

/// True of an all-gather and a gather: nccl-tests counts what all ranks give, `comm_size` what one does.
bool counts_all_ranks(CollectiveOp op);

/// busbw / algbw of nccl-tests.
double bus_factor(CollectiveOp op, uint32_t ranks);

}  // namespace weft::calibrate

#endif
