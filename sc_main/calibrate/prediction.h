// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A curve of predicted times beside the measured one: what reports, JSON and plots show.

#ifndef WEFT_SC_MAIN_CALIBRATE_PREDICTION_H
#define WEFT_SC_MAIN_CALIBRATE_PREDICTION_H

#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "sc_main/calibrate/accuracy.h"

namespace weft::calibrate {

struct Prediction {
  Compared times;
  std::string algorithm;     ///< "ring"; "": not known
  std::string protocol;      ///< "LL"; "": not known
  uint32_t channels = 0;     ///< 0: not known
  uint64_t chunk_bytes = 0;  ///< of algorithms that choose their chunk by the size; else 0
  bool fitted = false;
};

/// The sizes of one measured table, ascending.
struct Curve {
  CollectiveOp operation = CollectiveOp::all_reduce;
  std::string file;
  std::vector<Prediction> rows;
};

/// The rows that were fitted, or the others, of all curves.
std::vector<Compared> rows_of(const std::vector<Curve>& curves, bool fitted);
std::vector<Compared> rows_of(const Curve& curve, bool fitted);

/// Errors of the two simple predictors on the rows that were not fitted. Rows that no fitted row of their
/// curve can predict are left out. Where nothing was fitted, every second row of a curve is predicted from
/// the others.
struct Baselines {
  Errors line, interpolation;
};
Baselines baselines_of(const std::vector<Curve>& curves);

/// A change of algorithm, protocol or chunk, and the jump of the measured curve that belongs to it.
struct Crossover {
  CollectiveOp operation = CollectiveOp::all_reduce;
  std::string change;                       ///< "ring LL -> nvls Simple"; "": the prediction has none here
  std::optional<uint64_t> predicted_bytes;  ///< the first measured size with what is new
  std::optional<uint64_t> measured_bytes;   ///< where the measured curve jumps
  bool within_one_size() const { return predicted_bytes && measured_bytes; }
};

/// Jumps are sizes at which the slope of a curve (log time by log size) drops, or is less than on both sides,
/// and sizes that take less time than a smaller one: the slope of a curve without changes only rises. A
/// change belongs to the largest jump at most one size away; large jumps that no change belongs to are
/// listed, too. Without plans the jumps of the predicted curve stand for changes.
std::vector<Crossover> crossovers_of(const std::vector<Curve>& curves);

}  // namespace weft::calibrate

#endif
