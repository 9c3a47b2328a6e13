// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm_attention.h"

#include <fmt/format.h>

namespace weft::generate {

namespace pb = ChakraProtoMsg;

NodeId LlmAttention::attend(const std::string& name, bool is_backward, uint32_t parts, const NodeIds& deps) {
  const uint64_t width = shape_.hidden / shape_.tp;
  const uint64_t factor = is_backward ? 2 : 1;
  const uint64_t keys = shape_.seq / parts;
  const uint64_t ops = product({factor, 4, shape_.tokens, keys, width});
  nodes_.set_flop(nodes_.flop() + ops);
  const uint64_t softmax = product({factor, kSoftmaxOps, shape_.tokens, keys, shape_.heads / shape_.tp});
  // Queries and results; keys and values of as many tokens.
  return nodes_.compute(name, "ATTENTION", sum({ops, softmax}),
                        product({factor, 4, shape_.tokens, width, shape_.dtype}), deps);
}

NodeIds LlmAttention::exchange_heads(std::initializer_list<const char*> tensors, const NodeIds& deps) {
  if (shape_.ulysses == 1) return deps;
  NodeIds exchanged;
  for (const char* tensor : tensors)
    exchanged.push_back(nodes_.collective(fmt::format("attention.{}.all_to_all", tensor), pb::ALL_TO_ALL,
                                          kHeads, shape_.heads_activation, deps));
  return exchanged;
}

NodeId LlmAttention::forward(NodeId qkv) {
  const NodeId context = core(exchange_heads({"queries", "keys", "values"}, {qkv}));
  return exchange_heads({"context"}, {context}).front();
}

NodeId LlmAttention::core(const NodeIds& inputs) {
  if (in_ring()) return ring_forward(inputs);
  if (shape_.cp == 1) return attend("attention", false, 1, inputs);
  NodeIds deps = inputs;
  deps.push_back(nodes_.collective("attention.keys_values.all_gather", pb::ALL_GATHER, kContext,
                                   shape_.keys_values, inputs, inputs.empty() ? nodes_.stream() : kNone));
  return attend("attention", false, 1, deps);
}

NodeIds LlmAttention::backward(NodeId d_context) {
  const NodeIds inputs = exchange_heads({"context.gradient"}, {d_context});
  NodeIds gradients;
  if (in_ring()) {
    gradients = ring_backward(inputs);
  } else if (shape_.cp == 1) {
    gradients = {attend("attention.gradient", true, 1, inputs)};
  } else {
    // Gathered keys and values are not kept: they come again.
    NodeIds deps = inputs;
    deps.push_back(nodes_.collective("attention.keys_values.all_gather", pb::ALL_GATHER, kContext,
                                     shape_.keys_values, {}, nodes_.stream()));
    const NodeId d = attend("attention.gradient", true, 1, deps);
    gradients = {d, nodes_.collective("attention.keys_values.gradient.reduce_scatter", pb::REDUCE_SCATTER,
                                      kContext, product({shape_.cp, shape_.keys_values}), {d})};
  }
  return exchange_heads({"queries.gradient", "keys.gradient", "values.gradient"}, gradients);
}

NodeId LlmAttention::pass(const std::string& name, const NodeIds& held) {
  const uint64_t tag = tag_++;
  const NodeId posted = nodes_.stream();
  nodes_.message(name + ".send", true, nodes_.neighbour(kCp, 1), tag, shape_.keys_values,
                 held.empty() ? NodeIds{posted} : held);
  const NodeId received = nodes_.message(name + ".receive", false, nodes_.neighbour(kCp, shape_.cp - 1), tag,
                                         shape_.keys_values, {posted});
  if (!shape_.overlap) nodes_.wait_for(received);
  return received;
}

NodeId LlmAttention::ring_forward(const NodeIds& inputs) {
  NodeIds held = inputs;
  for (uint32_t i = 0;; ++i) {
    const bool last = i + 1 == shape_.cp;
    const NodeId next = last ? kNone : pass(fmt::format("attention.keys_values{}", i), held);
    const NodeId done = attend(fmt::format("attention.part{}", i), false, shape_.cp, held);
    if (last) return done;
    held = {next};
  }
}

NodeIds LlmAttention::ring_backward(const NodeIds& inputs) {
  const uint64_t elements = shape_.keys_values / shape_.dtype;
  NodeIds held = inputs;
  NodeId partial = kNone;  // gradients of the keys and values that are held, from the ranks before
  for (uint32_t i = 0; i < shape_.cp; ++i) {
    const NodeId next = i + 1 == shape_.cp ? kNone : pass(fmt::format("attention.keys_values{}", i), held);
    NodeId done = attend(fmt::format("attention.gradient.part{}", i), true, shape_.cp, held);
    if (i > 0)
      done = nodes_.elementwise(fmt::format("attention.keys_values.gradient{}", i), elements,
                                product({3, shape_.keys_values}), {done, partial});
    partial = pass(fmt::format("attention.keys_values.gradient{}", i), {done});
    held = {next};
  }
  return {nodes_.stream(), partial};
}

}  // namespace weft::generate
