// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_COLLECTIVES_WHOLE_ELEMENTS_H
#define WEFT_WORKLOAD_COLLECTIVES_WHOLE_ELEMENTS_H

#include <functional>
#include <string>

#include "workload/collectives/plan.h"

namespace weft::collectives {

/// Makes a request one of run.element's elements (`run.data: functional`; else it stays one of bytes). Throws
/// UserError(code), which begins with `where`, when its size is no whole number of them.
void set_elements(const Config& config, CollectiveRequest& request, ExitCode code,
                  const std::function<std::string()>& where);

}  // namespace weft::collectives

#endif
