// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Training steps of a transformer as Chakra traces, under tensor, data, pipeline, context, Ulysses and expert
// parallelism.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_H
#define WEFT_WORKLOAD_GENERATE_LLM_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::generate {

/// The model: `layers` blocks of attention (weights hidden x 3 hidden and hidden x hidden) and MLP (hidden x
/// ffn and ffn x hidden), an embedding of vocab x hidden on the first stage and an output layer of the same
/// size, not tied to it, on the last. Biases and the scales of the normalisations (under 0.1 % of the
/// weights) are left out; attention is not causal.
struct LlmConfig {
  uint32_t tp = 1;  ///< tensor parallel ranks: every weight matrix is cut in tp
  uint32_t dp = 1;  ///< data parallel replicas
  uint32_t pp = 1;  ///< pipeline stages; layers / pp consecutive layers each
  uint32_t layers = 8;
  uint64_t hidden = 4096;
  uint64_t ffn = 0;           ///< width of the MLP; 0: 4 x hidden
  uint64_t heads = 0;         ///< 0: hidden / 128 where that is a multiple of tp, else tp
  uint64_t seq = 2048;        ///< tokens a sequence
  uint64_t batch = 8;         ///< sequences a step of the whole job (global batch): a microbatch has
                              ///< batch / (dp x microbatches)
  uint32_t microbatches = 1;  ///< per replica and step
  uint64_t vocab = 51200;
  uint32_t dtype_bytes = 2;     ///< of weights and activations
  uint32_t gradient_bytes = 0;  ///< of a gradient on the wire; 0: dtype_bytes
  /// Activations between the tensor parallel blocks are cut along the sequence: all-gather and reduce-scatter
  /// in place of the all-reduces, and 1 / tp of the bytes between stages.
  bool sequence_parallel = false;
  /// 0: gradients are all-reduced over dp after a layer's last backward. 1: reduce-scattered there, weights
  /// all-gathered after the optimizer. 2: reduce-scattered after every microbatch. 3: as 2, and weights
  /// all-gathered before every use (one layer ahead), not after the optimizer.
  uint32_t zero = 0;
  uint32_t steps = 1;  ///< training steps; with more than one every node has the attribute `iteration`
  /// Chunks of layers of a stage, that microbatches pass in turn (interleaved pipeline): stage i has the
  /// blocks i, pp + i, 2 pp + i, .. of layers / (pp x virtual_stages) layers each. Above 1 microbatches is a
  /// multiple of pp.
  uint32_t virtual_stages = 1;
  enum class Recompute : uint8_t { none, selective, full };
  /// What the backward pass of a layer runs again before it: nothing, its attention, or its whole forward
  /// pass.
  Recompute recompute = Recompute::none;

  /// Context parallel ranks: each has seq / (cp x ulysses) tokens of every sequence, and the same weights.
  uint32_t cp = 1;
  enum class ContextExchange : uint8_t { ring, all_gather };
  /// How attention gets the keys and values of the other context parallel ranks. ring: they pass from rank to
  /// rank while a rank works on those it has (Liu, Zaharia, Abbeel, "Ring Attention with Blockwise
  /// Transformers", 2023). all_gather: all at once before the attention ("The Llama 3 Herd of Models", 2024,
  /// section 3.3.2).
  ContextExchange context_exchange = ContextExchange::ring;
  /// Ranks that share sequences outside of attention and heads inside of it (Jacobs et al., "DeepSpeed
  /// Ulysses", 2023): all-to-alls of queries, keys, values and results.
  uint32_t ulysses = 1;

  /// Every `moe_every`-th layer has so many experts in place of its MLP; 0: none.
  uint32_t experts = 0;
  uint32_t ep = 1;         ///< data parallel ranks that share out the experts; divides dp and experts
  uint32_t top_k = 1;      ///< experts a token
  double capacity = 1;     ///< tokens that an expert takes, over the mean
  uint32_t moe_every = 1;  ///< the last of so many layers has experts

  /// Data parallel ranks that share the sharded state (zero 1 to 3); the others have copies of it, and
  /// all-reduce the gradients of their shard (hybrid shard). 0: all of them share.
  uint32_t shard_group = 0;
  uint32_t fsdp_unit = 1;     ///< layers whose weights are gathered by one collective (zero 3)
  bool keep_weights = false;  ///< gathered weights stay until the backward pass has used them (zero 3)
  /// The optimizer waits for the gradients of the step before, not for its own step's.
  bool async = false;

  bool overlap = true;  ///< false: collectives wait for the compute before them, and compute waits for them
  /// Gradients are reduced when so many bytes of them are there; 0: at each layer's, ~0: all at once.
  uint64_t bucket = 0;
  /// Which coordinate of a rank varies fastest, second, .. slowest: tp, dp and pp, and where it matters
  /// ulysses and cp, which otherwise follow tp in this order.
  std::string order = "tp,dp,pp";
  /// One program a stage and a manifest of classes (trace/class_manifest.h), in place of a trace a rank and a
  /// groups file.
  bool classes = false;
  /// Ranks whose compute takes longer, and how much (trace/slowdown.h).
  std::map<uint32_t, uint64_t> slow;
};

/// Sizes of a published model: layers, hidden, heads, seq and vocab of `config`. Throws UserError(usage) for
/// an unknown name.
void apply_preset(LlmConfig& config, const std::string& name);
std::vector<std::string> llm_presets();

struct LlmSummary {
  uint32_t ranks = 0;
  uint64_t groups = 0;      ///< communicator groups of more than one rank
  uint64_t nodes = 0;       ///< of all ranks
  uint64_t bytes = 0;       ///< of all trace files
  uint64_t parameters = 0;  ///< of the model
  uint64_t flop = 0;   ///< matrix multiplications of the step, all ranks: the model FLOP of the literature
  std::string prefix;  ///< <out>/<name>
  std::string groups_file;  ///< <out>/<name>.groups.json, or .classes.json with the groups in it
};

/// Throws UserError(usage) when the parameters do not fit each other; the message says what to change.
void validate(const LlmConfig& config);

/// What a step needs, by formula; communication is what the busiest rank gives to each kind of operation.
struct LlmFigures {
  uint64_t parameters = 0;       ///< of the model
  uint64_t rank_parameters = 0;  ///< of the rank that has most
  double model_flop = 0;         ///< of a step, all ranks: 72 B s l h^2 (1 + s/6h + V/12lh) where ffn is 4 h
  double hardware_flop = 0;      ///< with what is computed again
  double activation_bytes = 0;   ///< kept for one layer and microbatch, a rank
  double state_bytes = 0;        ///< weights, gradients and optimizer state of that rank
  double bubble = 0;             ///< share of a step without communication: (pp - 1) / (virtual_stages x m)
  uint64_t tensor_parallel_bytes = 0;
  uint64_t pipeline_bytes = 0;
  uint64_t data_parallel_bytes = 0;
  uint64_t context_parallel_bytes = 0;  ///< ring: sent; all_gather: of the collectives
  uint64_t ulysses_bytes = 0;
  uint64_t expert_parallel_bytes = 0;  ///< dispatch and combination
};
LlmFigures describe_llm(const LlmConfig& config);

/// Writes <out>/<name>.<rank>.et for every rank and <out>/<name>.groups.json; `out` is created. The same
/// parameters give the same bytes. Throws UserError(usage) for parameters that do not fit and for a folder
/// that cannot be written, UserError(internal) when writing fails (disk full); a file that could not be
/// completed is removed.
///
/// The program of a rank: its COMP nodes are one stream (each has a ctrl_dep on the one before), microbatches
/// in 1F1B order. Communication overlaps with it: a weight gradient with the all-reduce of the data gradient
/// before it, the gradients of a layer with the backward of the layers below. A receive is posted when the
/// stage has finished the task before. Node ids rise in program order, dependencies refer to lower ids only,
/// and the program is the same on every rank of a stage, so that all members of a group have its collectives
/// in the same order. Tags are unique between two ranks. Groups are named "1", "2", ...: first the tensor
/// parallel ones, then those of the data parallel ranks, the others behind them. Within a kind they are in
/// the order of the coordinates that their members share, pp slowest.
LlmSummary generate_llm(const LlmConfig& config, const std::string& out, const std::string& name);

}  // namespace weft::generate

#endif
