// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// text_layers.csv: ASTRA-sim 1.0's report of a text workload, of rank 0.

#ifndef WEFT_SC_MAIN_TEXT_REPORT_H
#define WEFT_SC_MAIN_TEXT_REPORT_H

#include <memory>
#include <string>

#include "sc_main/output_folder.h"
#include "sc_models/trace_job.h"
#include "workload/text/layer_times.h"
#include "workload/text/text_job.h"

namespace weft::cli {

constexpr const char* kTextLayersFile = "text_layers.csv";

class TextReport {
 public:
  /// Listens to rank 0 of the job, which has not started; `text`: null where the job is of traces. The report
  /// is left out where the tensors of the rank are followed (`run.footprint: on`).
  TextReport(const text::TextJob* text, TraceJob& job);

  /// Writes the file, if there is a report. `end`: of the run.
  void write(const OutputFolder& folder, Picoseconds end) const;
  /// " text_layers.csv", or nothing.
  std::string files() const;

 private:
  const text::TextJob* text_;
  std::unique_ptr<text::LayerTimes> times_;
};

}  // namespace weft::cli

#endif
