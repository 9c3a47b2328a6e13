// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What editors and readers get from the table of keys.

#ifndef WEFT_CONFIGS_SCHEMA_H
#define WEFT_CONFIGS_SCHEMA_H

#include <string>

namespace weft {

/// JSON Schema (draft 2020-12) of a configuration, indented. It knows types, units, names and integer ranges;
/// ranges of values with units and relations between keys are the loader's.
std::string json_schema();

/// docs/configuration_reference.md.
std::string reference_markdown();

}  // namespace weft

#endif
