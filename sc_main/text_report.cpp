// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/text_report.h"

#include <fmt/format.h>

#include "sc_main/decimal.h"

namespace weft::cli {

TextReport::TextReport(const text::TextJob* text, TraceJob& job) : text_(text) {
  if (text_ == nullptr) return;
  times_ = std::make_unique<text::LayerTimes>(text_->loop);
  if (!job.listen(0, *times_)) times_.reset();
}

void TextReport::write(const OutputFolder& folder, Picoseconds end) const {
  if (times_ == nullptr) return;
  std::string out = "layer,name,pass,compute_ns,communication_ns,exposed_ns\n";
  Picoseconds compute = 0, communication = 0;
  for (const text::LayerTime& row : times_->rows(static_cast<uint32_t>(text_->file.layers.size()))) {
    out += fmt::format("{},{},{},{},{},{}\n", row.layer, csv_field(text_->file.layers[row.layer].name),
                       text::to_string(row.pass), nanoseconds(row.compute), nanoseconds(row.communication),
                       nanoseconds(row.exposed));
    compute += row.compute;
    communication += row.communication;
  }
  out += fmt::format(",total,,{},{},{}\n", nanoseconds(compute), nanoseconds(communication),
                     nanoseconds(end > compute ? end - compute : 0));
  folder.write(kTextLayersFile, out);
}

std::string TextReport::files() const {
  return times_ == nullptr ? "" : std::string(" ") + kTextLayersFile;
}

}  // namespace weft::cli
