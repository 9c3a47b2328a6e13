// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A log of nccl-tests, or a table of measured times in JSON.

#include <cmath>

#include "sc_main/calibrate/measured_json.h"
#include "sc_main/calibrate/nccl_log.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool incomplete : {false, true}) {
    calibrate::ReadOptions options;
    options.incomplete = incomplete;
    fuzz::tolerate([&] {
      const bool json = !text.empty() && text[0] == '{';
      for (calibrate::Measurement& table : json ? calibrate::parse_measured_json(text, "table.json", options)
                                                : calibrate::parse_nccl_log(text, "run.log", options)) {
        fuzz::expect(table.operation.has_value(), "a table without an operation");
        for (const calibrate::MeasuredRow& row : table.rows)
          fuzz::expect(row.bytes > 0 && row.us > 0 && std::isfinite(row.us) && row.number > 0,
                       "a row is none");
        calibrate::clean(table);
        for (size_t i = 1; i < table.rows.size(); ++i)
          fuzz::expect(table.rows[i - 1].bytes < table.rows[i].bytes, "sizes do not rise");
      }
    });
  }
  return 0;
}
