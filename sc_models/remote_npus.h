// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// NPUs of the model `remote`: their program runs in another process, which speaks to the machine's network
// (network_interface/remote). There is no module for them here.

#ifndef WEFT_SC_MODELS_REMOTE_NPUS_H
#define WEFT_SC_MODELS_REMOTE_NPUS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"

namespace weft {

inline constexpr const char* kRemoteNpuModel = "remote";

struct RemoteNpu {
  uint32_t npu = 0;
  std::string implementation;  ///< as it is written: "remote(socket=host0.sock)"
  std::string owner;           ///< begins messages: the key
};

/// In ascending order. Errors: UserError(usage) as of ModuleChoices.
std::vector<RemoteNpu> remote_npus(const Config& config);

/// Errors: UserError(usage) for a machine with such NPUs: what runs here needs NPUs of its own.
void refuse_remote_npus(const Config& config);

}  // namespace weft

#endif
