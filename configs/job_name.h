// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job's name is that of the folder of its results, inside the folder of the run.

#ifndef WEFT_CONFIGS_JOB_NAME_H
#define WEFT_CONFIGS_JOB_NAME_H

#include <string>

namespace weft {

/// Why a job cannot have this name, to go on after the name; "" when it can.
std::string job_name_error(const std::string& name);

}  // namespace weft

#endif
