// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What results and the progress line say of packet trains: how much of the traffic they have carried, and why
// the other packets were simulated one by one. All of it tells how the simulator worked, and nothing of the
// machine.

#ifndef WEFT_SC_MAIN_TRAIN_RESULTS_H
#define WEFT_SC_MAIN_TRAIN_RESULTS_H

#include <string>

#include "sc_main/json_text.h"
#include "tlm_interconnect/packet/train_counts.h"

namespace weft::cli {

/// The key `trains` of an object; nothing where no network has trains.
void add_trains(JsonText& json, const packet::TrainCounts& trains);

/// In one line; "" for fewer packets than anybody waits for.
std::string trains_text(const packet::TrainCounts& trains);

/// "48 % of packets by train"; "" where no network has trains.
std::string trains_share(const packet::TrainCounts& trains);

}  // namespace weft::cli

#endif
