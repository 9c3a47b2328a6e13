// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The version of the library that a log names: its tables plan what was measured.

#ifndef WEFT_SC_MAIN_CALIBRATE_LOG_VERSION_H
#define WEFT_SC_MAIN_CALIBRATE_LOG_VERSION_H

#include <string>
#include <vector>

#include "configs/library_config.h"
#include "sc_main/calibrate/measurement.h"

namespace weft::calibrate {

struct LogVersion {
  std::string version;  ///< as `collectives.library_version` writes it: "2.26"; empty: the logs name none
  std::string note;     ///< a sentence, where it is not the version of the logs
};

/// "2.26.2+cuda12.8" and 22602 (NCCL_VERSION_CODE) give "2.26". A version without tables gives the nearest
/// one that has some. Logs of several versions give none.
LogVersion version_of(const std::vector<Measurement>& tables, LibraryKind kind);

}  // namespace weft::calibrate

#endif
