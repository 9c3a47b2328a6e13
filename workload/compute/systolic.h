// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How many cycles a systolic array takes for a matrix product, by SCALE-sim's published equations, and how a
// convolution becomes a matrix product. SCALE-sim's "total cycles" is the number of the last cycle, one less.

#ifndef WEFT_WORKLOAD_COMPUTE_SYSTOLIC_H
#define WEFT_WORKLOAD_COMPUTE_SYSTOLIC_H

#include <cstdint>
#include <string>

namespace weft::compute {

/// What stays in the processing elements.
enum class Dataflow : uint8_t {
  output_stationary,  ///< os: per fold R + C + K - 2, ceil(M/R) ceil(N/C) folds
  weight_stationary,  ///< ws: per fold 2R + C + M - 2, ceil(K/R) ceil(N/C) folds
  input_stationary,   ///< is: per fold 2R + C + N - 2, ceil(K/R) ceil(M/C) folds
  tpu                 ///< ws_tpu: per fold min(K,R) + C + M, ceil(K/R) ceil(N/C) folds
};
constexpr int kDataflows = 4;

const char* to_string(Dataflow dataflow);  ///< "os", "ws", "is", "ws_tpu"
/// Throws UserError(usage) that begins with `where` and lists the names.
Dataflow parse_dataflow(const std::string& name, const std::string& where);

/// M x K times K x N.
struct Gemm {
  uint64_t m = 0;  ///< rows of the result
  uint64_t k = 0;  ///< inner size
  uint64_t n = 0;  ///< columns of the result
};

struct SystolicArray {
  uint64_t rows = 128;
  uint64_t cols = 128;
  Dataflow dataflow = Dataflow::weight_stationary;
};

/// 0 for a product without elements; the largest value where 64 bits do not hold the cycles.
uint64_t cycles(const SystolicArray& array, const Gemm& gemm);

/// .. of the slowest of row_parts x column_parts arrays: what lies along the array's rows is cut in
/// row_parts, what lies along its columns in column_parts.
uint64_t scaled_out_cycles(const SystolicArray& array, const Gemm& gemm, uint64_t row_parts,
                           uint64_t column_parts);

/// A convolution without dilation and groups. Heights and widths of the input with its padding.
struct Convolution {
  uint64_t input_height = 1, input_width = 1;
  uint64_t filter_height = 1, filter_width = 1;
  uint64_t channels = 1;
  uint64_t filters = 1;
  uint64_t stride = 1;
};

/// M = outputs of a channel x batch, K = filter x channels, N = filters. No filter is larger than its input,
/// and the stride is not 0.
Gemm gemm_of(const Convolution& convolution, uint64_t batch = 1);

}  // namespace weft::compute

#endif
