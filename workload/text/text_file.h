// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The text workload of ASTRA-sim 1.0: one stream of tokens between blanks, tabs and line ends. A header, the
// number of layers, then 12 tokens for each layer (13 with the layer's own parallelism).

#ifndef WEFT_WORKLOAD_TEXT_TEXT_FILE_H
#define WEFT_WORKLOAD_TEXT_TEXT_FILE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::text {

/// The training loop that the header names.
enum class Loop : uint8_t {
  data,
  model,
  hybrid_data_model,
  hybrid_model_data,
  hybrid_customized,
  hybrid_transformer,
  hybrid_transformer_fwd_in_bckwd,
  hybrid_dlrm,
  hybrid_dlrm_enhanced,
  distributed_inference,
  micro
};
constexpr int kLoops = 11;

const char* to_string(Loop loop);  ///< the header's word

/// How one layer of HYBRID_CUSTOMIZED is divided.
enum class Parallelism : uint8_t { data, model, hybrid_data_model, hybrid_model_data };

/// The three computations of a layer, each followed by its communication.
enum class Pass : uint8_t { forward, input_gradient, weight_gradient };
constexpr int kPasses = 3;

const char* to_string(Pass pass);  ///< "forward", "input_gradient", "weight_gradient"

struct TextLayer {
  std::string name;  ///< may repeat
  struct Step {
    uint64_t cycles = 0;             ///< of compute
    std::optional<CollectiveOp> op;  ///< after it; empty: NONE
    uint64_t bytes = 0;              ///< of it; an all-gather's is the shard of one NPU
  };
  std::array<Step, kPasses> steps;  ///< by Pass
  uint64_t update_cycles = 0;       ///< after every collective of the layer
  std::optional<Parallelism> parallelism;

  const Step& step(Pass pass) const { return steps[static_cast<size_t>(pass)]; }
};

struct TextFile {
  std::string path;
  std::string sha256;  ///< of the file, hexadecimal
  Loop loop = Loop::data;
  uint32_t last_bottom_layer = 0;       ///< of the two DLRM loops
  std::optional<uint64_t> model_group;  ///< model_parallel_NPU_group
  std::vector<uint32_t> checkpoints;    ///< layers, ascending
  std::vector<uint32_t> initiators;     ///< layers whose backward pass begins with forward again, ascending
  std::vector<TextLayer> layers;        ///< at least one
  std::vector<std::string> warnings;    ///< for whoever shows them
};

/// Reads a file of at most 64 MiB. Throws UserError(trace) that names file, line, token number, layer and
/// column.
TextFile read_text_file(const std::string& path);
/// The same from a file's text. Messages name `path`.
TextFile parse_text(const std::string& text, const std::string& path);

}  // namespace weft::text

#endif
