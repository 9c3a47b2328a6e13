// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Cases on which a relation does not hold although Weft is right: true scheduling anomalies, such as a faster
// link that makes a list schedule longer (R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).
// Each is worked out by hand before it is listed. A listed case is still run and counted, in a column of its
// own; a list never hides others, since a case is named by all that it holds.

#ifndef WEFT_TESTS_RELATIONS_ANOMALIES_H
#define WEFT_TESTS_RELATIONS_ANOMALIES_H

#include <string>

#include "tests/relations/case.h"

namespace weft::relations {

/// Sixteen digits that name the case: its machine, collective, job and choices.
std::string fingerprint(const Case& c);

/// Is this case of the relation listed?
bool listed_anomaly(const std::string& relation, const Case& c);

}  // namespace weft::relations

#endif
