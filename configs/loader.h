// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From YAML to a resolved Config. Two stages: the file becomes raw values, each checked on its own against
// the table of keys; then defaults, relations between keys and derived values make the Config. All errors of
// a stage are reported at once.

#ifndef WEFT_CONFIGS_LOADER_H
#define WEFT_CONFIGS_LOADER_H

#include <string>
#include <vector>

#include "configs/config.h"

namespace weft {

/// One key set from outside the file; it wins over the file, and a later one over an earlier one.
struct Override {
  std::string path;    ///< "npu.peak", "topology.dimensions[0].latency", "topology.dimensions[*].latency"
  std::string value;   ///< as in YAML: "3 us", "[ring, direct]", "{bandwidth: 1600 GB/s}"
  std::string origin;  ///< what messages call it, e.g. "--set npu.peak=3"
};

/// "a.b=c" -> {"a.b", "c", "--set a.b=c"}. Errors: UserError(usage) when there is no `=` or no key.
Override parse_override(const std::string& text);

/// Reads a file. `overrides` are texts "a.b=c". `dimensions[i]` means dimension i even where the file has one
/// entry for all (the others keep theirs); `dimensions[*]` means all. Setting one of bandwidth and
/// bandwidth_per_npu replaces the other. Relative paths of traces and groups become absolute, from the file's
/// folder. Errors: UserError(usage), one line an error: `file:line: key `a.b`: what is wrong, the value; what
/// is allowed`.
Config load_config(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same from text; `filename` is only for messages and for the folder of relative paths ("": working
/// directory).
Config parse_config(const std::string& text, const std::string& filename,
                    const std::vector<std::string>& overrides = {});

/// The same with overrides whose origin is not `--set`: for programs that build a configuration from their
/// own options.
Config build_config(const std::string& text, const std::string& filename,
                    const std::vector<Override>& overrides);

}  // namespace weft

#endif
