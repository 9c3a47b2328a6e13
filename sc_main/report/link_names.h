// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which places of the machine a link of links.csv joins.

#ifndef WEFT_SC_MAIN_REPORT_LINK_NAMES_H
#define WEFT_SC_MAIN_REPORT_LINK_NAMES_H

#include <string>
#include <string_view>

namespace weft::report {

/// Places have one name at every fidelity: the router of an NPU ("router3") and its network interface
/// ("ni_3") are the NPU ("nmu3").
std::string place_of(std::string_view name);

struct LinkSender {
  std::string node, port;
};

/// "job.nmu3.d0_plus", "job.packet0_0.router3.d0_plus", "job.packet.ni_3", "job.packet.ni_3_at1". The first
/// part is the machine's, and the same for all; the part of a packet network says nothing about places.
LinkSender sender_of(std::string_view name);

}  // namespace weft::report

#endif
