// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A network as a list of layers with their matrix products, parameters and communication: what the generators
// of known networks make, and what is written as a text workload of ASTRA-sim 1.0 or as Chakra traces.

#ifndef WEFT_WORKLOAD_GENERATE_MODELS_MODEL_H
#define WEFT_WORKLOAD_GENERATE_MODELS_MODEL_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "workload/compute/systolic.h"
#include "workload/text/text_file.h"

namespace weft::generate {

/// The work of a layer in one pass over it: a matrix product, or operations that are none.
struct LayerWork {
  compute::Gemm gemm;         ///< all 0: no matrix product
  uint64_t count = 1;         ///< so many products of this size, one after the other
  uint64_t other_ops = 0;     ///< FLOP beside it
  uint64_t other_bytes = 0;   ///< bytes read and written beside it
  uint64_t fixed_cycles = 0;  ///< in a text workload, in place of the array's cycles; 0: the array's

  bool is_gemm() const { return gemm.m != 0; }
  bool empty() const { return gemm.m == 0 && other_ops == 0 && other_bytes == 0 && fixed_cycles == 0; }
};

struct LayerCommunication {
  std::optional<CollectiveOp> op;
  uint64_t bytes = 0;
};

struct ModelLayer {
  std::string name;
  std::array<LayerWork, text::kPasses> work;                    ///< by text::Pass
  std::array<LayerCommunication, text::kPasses> communication;  ///< after it, unless buckets replace it
  uint64_t weights = 0;              ///< elements of the matrix: no biases, no normalisations
  std::vector<uint64_t> parameters;  ///< elements of every tensor of the layer, in the network's order
  uint64_t outputs = 0;              ///< elements of the layer's activations, the whole batch
  std::optional<text::Parallelism> parallelism;  ///< of HYBRID_CUSTOMIZED

  const LayerWork& of(text::Pass pass) const { return work[static_cast<size_t>(pass)]; }
  LayerWork& of(text::Pass pass) { return work[static_cast<size_t>(pass)]; }
  const LayerCommunication& after(text::Pass pass) const { return communication[static_cast<size_t>(pass)]; }
  LayerCommunication& after(text::Pass pass) { return communication[static_cast<size_t>(pass)]; }
  uint64_t parameter_count() const;
};

/// How a text workload's update times follow from a layer.
enum class UpdateRule : uint8_t {
  tenth_of_weight_gradient,  ///< cycles of the weight gradient / 10, rounded
  bytes_over_1000,           ///< bytes of the layer's largest collective / 1000, rounded
  fixed                      ///< Model::update_cycles
};

struct Model {
  std::string name;  ///< "resnet50"
  text::Loop loop = text::Loop::data;
  uint32_t last_bottom_layer = 0;  ///< of the DLRM loops
  uint64_t batch = 1;              ///< of one rank
  uint32_t element_bytes = 4;
  UpdateRule update = UpdateRule::tenth_of_weight_gradient;
  uint64_t update_cycles = 0;  ///< with UpdateRule::fixed
  bool stalls = true;          ///< text workload: a pass waits for the weights of the next layer
  std::vector<ModelLayer> layers;
  std::string fitted;  ///< what of it is fitted, not published; empty: nothing

  uint64_t parameters() const;           ///< elements
  uint64_t weights() const;              ///< elements of matrices
  uint64_t activations() const;          ///< elements, the whole batch
  uint64_t macs(text::Pass pass) const;  ///< multiply-accumulates of matrix products, the whole batch
  uint64_t flop() const;                 ///< of a step: 2 x macs of all passes and other_ops
  /// Bytes that one rank gives to collectives in a step, as the layers have them.
  uint64_t communicated() const;
};

/// Every generator throws UserError(usage) for parameters that do not fit.

/// ResNet of 50, 101 or 152 layers on images of 224 x 224. `v15`: the stride of a stage's first block is in
/// its 3 x 3 convolution (v1.5), not in the first 1 x 1 (v1).
Model resnet(uint32_t depth, uint64_t batch, uint32_t element_bytes, bool v15 = true);

struct BertConfig {
  uint64_t hidden = 1024;
  uint32_t layers = 24;
  uint64_t heads = 16;
  uint64_t sequence = 384;
  uint64_t vocabulary = 30522;
  uint64_t batch = 4;
  uint32_t element_bytes = 4;
  bool question_answering = false;  ///< a head for spans in place of the pooler
};
Model bert(const BertConfig& config);

struct DlrmConfig {
  std::vector<uint64_t> bottom{13, 512, 256, 64, 16};  ///< widths, inputs first
  std::vector<uint64_t> top{367, 512, 256, 1};
  uint64_t tables = 26;
  uint64_t dimension = 16;
  uint64_t batch = 128;  ///< of one rank
  uint32_t element_bytes = 4;
  bool biases = true;
  /// The passes of a layer as the public text file has them: forward (batch, out, in).
  bool as_text_file = false;
  uint64_t embedding_cycles = 0;  ///< of each pass, in a text workload
  std::string fitted;
};
/// kaggle, terabyte, mlperf, dlrm-57m, astra (the public text file of ASTRA-sim 1.0).
DlrmConfig dlrm_preset(const std::string& name);
std::vector<std::string> dlrm_presets();
Model dlrm(const DlrmConfig& config);

struct DeepLightConfig {
  uint64_t fields = 39;
  uint64_t dimension = 10;
  uint64_t rows = 56'452'240;  ///< fitted to 2.26 GB of gradients
  std::vector<uint64_t> hidden{400, 400, 400};
  uint64_t batch = 2048;
  uint32_t element_bytes = 4;
};
Model deeplight(const DeepLightConfig& config);

/// One collective of so many bytes.
Model micro(CollectiveOp op, uint64_t bytes, uint64_t cycles);

/// How the layers of a table are divided over the NPUs.
struct TableSplit {
  text::Loop loop = text::Loop::data;
  uint64_t npus = 1;      ///< P
  uint64_t packages = 1;  ///< Q; P / Q NPUs each
  uint64_t batch = 1;     ///< of convolutions
  uint32_t element_bytes = 4;
};

/// Reads a table of layers, of which either columns Layer, m, n, k [, parallelism] (the script of ASTRA-sim
/// 1.0: M x K is the input, K x N the weights, M x N the output), or a topology of SCALE-sim (layer, ifmap
/// height, ifmap width, filter height, filter width, channels, filters, stride). The columns are told apart
/// by their number. Throws UserError(usage) that names file, line and column.
Model read_layer_table(const std::string& path, const TableSplit& split);
/// Takes the layers' cycles from a table: columns layer, forward [, input_gradient, weight_gradient] with
/// such a header, or SCALE-sim's compute report, whose `Total Cycles` are the number of the last cycle of a
/// forward pass. Layers are matched by name, or, where a table has none of the names, by number. Throws
/// likewise.
void read_cycle_table(const std::string& path, Model& model);

/// Bucket sizes of gradients as data-parallel training makes them: tensors in reverse order; a bucket is
/// closed when it reaches its cap, the first one of 1 MiB, the others of `cap` bytes.
std::vector<uint64_t> gradient_buckets(const std::vector<uint64_t>& parameters, uint32_t element_bytes,
                                       uint64_t cap);

}  // namespace weft::generate

#endif
