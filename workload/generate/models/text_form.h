// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A network as a text workload of ASTRA-sim 1.0, timed by a systolic array.

#ifndef WEFT_WORKLOAD_GENERATE_MODELS_TEXT_FORM_H
#define WEFT_WORKLOAD_GENERATE_MODELS_TEXT_FORM_H

#include <string>

#include "configs/types.h"
#include "workload/compute/systolic.h"
#include "workload/generate/models/model.h"

namespace weft::generate {

struct TextTiming {
  compute::SystolicArray array{256, 256, compute::Dataflow::tpu};
  double clock_hz = 1e9;
  /// B/s at which weights are loaded one layer ahead: a pass takes at least as long as the load of the next
  /// one's (the input gradient's of the layer before), and the first layer waits for its own.
  double memory_bandwidth = 2e12 / 3;
};

/// Cycles of a pass, with what it waits for.
uint64_t pass_cycles(const Model& model, size_t layer, text::Pass pass, const TextTiming& timing);
/// .. without.
uint64_t work_cycles(const LayerWork& work, const TextTiming& timing);

/// The file's text.
std::string text_form(const Model& model, const TextTiming& timing);

}  // namespace weft::generate

#endif
