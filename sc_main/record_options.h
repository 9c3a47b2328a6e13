// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_RECORD_OPTIONS_H
#define WEFT_SC_MAIN_RECORD_OPTIONS_H

#include <string>

namespace weft::cli {

/// What `--record` and `--record-file` say; empty: not given.
struct RecordOptions {
  std::string block;
  std::string file;
};

}  // namespace weft::cli

#endif
