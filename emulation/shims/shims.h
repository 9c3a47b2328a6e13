// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which shim stands between a program and `weft emulate`, and the environment variables that put it there.

#ifndef WEFT_EMULATION_SHIMS_SHIMS_H
#define WEFT_EMULATION_SHIMS_SHIMS_H

#include <string>
#include <utility>
#include <vector>

namespace weft::emulation {

/// `name`: auto (by the libraries that the program is linked with), ompi, mpich, nccl, torch or none.
/// `command`: the program and its arguments. `children`: what the program starts has the shim, too. Errors:
/// UserError(usage) for another name, and for a shim that is not installed.
std::vector<std::pair<std::string, std::string>> shim_variables(const std::string& name,
                                                                const std::vector<std::string>& command,
                                                                bool children);

/// The shared libraries that an ELF file names (DT_NEEDED), e.g. "libmpi.so.40". Empty for any other file.
std::vector<std::string> needed_libraries(const std::string& path);

}  // namespace weft::emulation

#endif
