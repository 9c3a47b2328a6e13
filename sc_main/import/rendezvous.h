// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// ASTRA-sim 1.0's --rendezvous-protocol: a send waits for a control message of 8192 B from its receiver.

#ifndef WEFT_SC_MAIN_IMPORT_RENDEZVOUS_H
#define WEFT_SC_MAIN_IMPORT_RENDEZVOUS_H

#include "sc_main/import/imported.h"

namespace weft::cli::import {

constexpr uint64_t kRendezvousBytes = 8192;

/// Adds the time of the control message between neighbours of each dimension to `nic_latency`, half at either
/// end, with a remark; the control messages themselves take no bandwidth. With a logical topology to the
/// links' latency. false where a machine has no dimensions of its own (graphs, trees): nothing is changed.
bool add_rendezvous(Imported& imported);

}  // namespace weft::cli::import

#endif
