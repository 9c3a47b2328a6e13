// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Who is at the other side of a socket, for messages.

#ifndef WEFT_COSIM_TLM_SOCKET_NAMES_H
#define WEFT_COSIM_TLM_SOCKET_NAMES_H

#include <string>
#include <systemc>
#include <tlm>

namespace weft::cosim {

using AnyInitiatorSocket = tlm::tlm_base_initiator_socket_b<32>;
using AnyTargetSocket = tlm::tlm_base_target_socket_b<32>;

/// SystemC's name of the innermost initiator socket that leads to `target`, and of the innermost target
/// socket that `initiator` leads to. Not that of `own`. Empty: there is none in the hierarchy.
std::string name_of_initiator(const tlm::tlm_fw_transport_if<>& target,
                              const AnyInitiatorSocket* own = nullptr);
std::string name_of_target(AnyInitiatorSocket& initiator, const AnyTargetSocket* own = nullptr);

}  // namespace weft::cosim

#endif
