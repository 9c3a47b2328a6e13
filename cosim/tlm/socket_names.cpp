// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/socket_names.h"

#include <vector>

namespace weft::cosim {
namespace {

const sc_core::sc_interface* interface_of(AnyInitiatorSocket& socket) {
  return static_cast<sc_core::sc_port_base&>(socket.get_base_port()).get_interface();
}
const sc_core::sc_interface* interface_of(AnyTargetSocket& socket) {
  return static_cast<sc_core::sc_export_base&>(socket.get_base_export()).get_interface();
}

template <typename Socket>
std::string name_of(const sc_core::sc_interface* end, const Socket* own) {
  std::vector<sc_core::sc_object*> objects = sc_core::sc_get_top_level_objects();
  std::string found;
  for (size_t i = 0; i < objects.size(); ++i) {
    const std::vector<sc_core::sc_object*> children = objects[i]->get_child_objects();
    const std::string name = objects[i]->name();
    auto* const socket = dynamic_cast<Socket*>(objects[i]);
    objects.insert(objects.end(), children.begin(), children.end());
    if (socket != nullptr && socket != own && interface_of(*socket) == end) found = name;
  }
  return found;
}

}  // namespace

std::string name_of_initiator(const tlm::tlm_fw_transport_if<>& target, const AnyInitiatorSocket* own) {
  return name_of<AnyInitiatorSocket>(&target, own);
}

std::string name_of_target(AnyInitiatorSocket& initiator, const AnyTargetSocket* own) {
  return name_of<AnyTargetSocket>(interface_of(initiator), own);
}

}  // namespace weft::cosim
