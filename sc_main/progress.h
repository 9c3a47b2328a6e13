// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_PROGRESS_H
#define WEFT_SC_MAIN_PROGRESS_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "configs/types.h"

namespace weft::cli {

/// How far a run is.
struct Work {
  uint64_t done = 0;
  uint64_t total = 0;
  std::string unit;   ///< "messages of size 2 of 5"; empty: the progress line's own
  double share = -1;  ///< of all the work, where that is more than `total`; below 0: done / total
  std::string how;    ///< "48 % of packets by train"; empty: there is nothing to say of how it is done
};

/// The line that says how far a run is. It appears only when the run lasts: on a terminal one line that is
/// written over, elsewhere a new line now and then.
class Progress {
 public:
  using Write = std::function<void(std::string_view)>;

  static constexpr double kBegin_s = 2;  ///< nothing before this
  static constexpr double kTerminalEvery_s = 0.25;
  static constexpr double kLogEvery_s = 10;

  /// `unit`: what is counted, "nodes".
  Progress(Write write, bool terminal, std::string unit)
      : write_(std::move(write)), terminal_(terminal), unit_(std::move(unit)) {}

  /// `elapsed_s` is wall-clock time since the run began; `done` of `total` units are finished.
  void update(double elapsed_s, Picoseconds simulated, uint64_t done, uint64_t total);
  /// The same. `work` is asked only if there is something to say.
  void update(double elapsed_s, Picoseconds simulated, const std::function<Work()>& work);
  /// A line of the caller's own, which is asked for if it is time to say something: what is done, and the
  /// share of all the work.
  void update_text(double elapsed_s, const std::function<std::pair<std::string, double>()>& done);
  /// Leaves the line.
  void end();

 private:
  Write write_;
  bool terminal_;
  std::string unit_;
  bool shown_ = false;
  double next_s_ = kBegin_s;
  size_t width_ = 0;
};

}  // namespace weft::cli

#endif
