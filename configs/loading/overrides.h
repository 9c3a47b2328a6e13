// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Keys set from outside the file: edits of the document before anything is checked.

#ifndef WEFT_CONFIGS_LOADING_OVERRIDES_H
#define WEFT_CONFIGS_LOADING_OVERRIDES_H

#include "configs/document.h"
#include "configs/loader.h"

namespace weft::loading {

/// Sets one key. `[i]` of a list of dimensions means dimension i, as the notation in the document counts
/// them. Errors: UserError(usage).
void apply_override(DocumentNode& root, const Override& o);

}  // namespace weft::loading

#endif
