// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which ranks of a configuration have simulators in other processes, and where these are: `binding: remote`.

#ifndef WEFT_NETWORK_INTERFACE_REMOTE_BINDINGS_H
#define WEFT_NETWORK_INTERFACE_REMOTE_BINDINGS_H

#include <cstdint>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "network_interface/remote/channel.h"

namespace weft::network_interface {

/// By rank, ascending. Sockets are relative to the configuration file's folder. Errors: UserError(usage)
/// names the key of what is wrong, missing, or has the socket of another rank.
std::vector<std::pair<uint32_t, ChannelOptions>> remote_bindings(const Config& config);

}  // namespace weft::network_interface

#endif
