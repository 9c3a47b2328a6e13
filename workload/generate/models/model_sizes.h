// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Arithmetic and parts that the networks have in common. Private to this folder.

#ifndef WEFT_WORKLOAD_GENERATE_MODELS_MODEL_SIZES_H
#define WEFT_WORKLOAD_GENERATE_MODELS_MODEL_SIZES_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "configs/types.h"
#include "workload/generate/models/model.h"

namespace weft::generate {

/// num_ops and comm_size are int64 on the wire. Both throw UserError(usage) above that.
uint64_t model_product(std::initializer_list<uint64_t> factors);
uint64_t model_sum(uint64_t a, uint64_t b);

/// A layer that multiplies `rows` x `in` by `in` x `out`: forward (rows, in, out), input gradient (rows, out,
/// in), weight gradient (in, rows, out), and an all-reduce of the weights' gradients.
ModelLayer dense_layer(const std::string& name, uint64_t rows, uint64_t in, uint64_t out,
                       uint32_t element_bytes, bool input_gradient = true);

}  // namespace weft::generate

#endif
