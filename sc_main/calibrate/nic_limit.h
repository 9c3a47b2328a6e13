// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Measured times that the machine's NICs forbid: no parameter of a fit can reach them.

#ifndef WEFT_SC_MAIN_CALIBRATE_NIC_LIMIT_H
#define WEFT_SC_MAIN_CALIBRATE_NIC_LIMIT_H

#include <string>
#include <vector>

#include "sc_main/calibrate/fit.h"

namespace weft::calibrate {

/// Us that the NICs of a node need for the call's bytes, at least, with the plan's algorithm; 0: one node, or
/// not known.
double least_nic_time(const LibraryPlan& plan, const library::LibraryMachine& machine);

/// A sentence, if rows were faster than that: the measured machine has other NICs, or ran another algorithm.
std::string faster_than_nics(const std::vector<FitRow>& rows, const library::LibraryMachine& machine);

}  // namespace weft::calibrate

#endif
