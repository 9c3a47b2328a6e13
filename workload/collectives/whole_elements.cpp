// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/whole_elements.h"

#include <fmt/format.h>

#include "workload/collectives/elements.h"

namespace weft::collectives {

void set_elements(const Config& config, CollectiveRequest& request, ExitCode code,
                  const std::function<std::string()>& where) {
  if (config.run.data == "none" || request.op == CollectiveOp::barrier) return;
  const ElementType type = element_type(config.run.element);
  request.element_bytes = element_bytes(type);
  if (request.bytes % request.element_bytes == 0) return;
  throw UserError(code, fmt::format("{}: {} B are not a whole number of {} elements ({} B each), which "
                                    "`run.data: functional` carries; change the size, `run.element`, or set "
                                    "`run.data: none`",
                                    where(), request.bytes, to_string(type), request.element_bytes));
}

}  // namespace weft::collectives
