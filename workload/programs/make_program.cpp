// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/make_program.h"

#include <fmt/format.h>

#include "workload/programs/program_parts.h"

namespace weft::library {

namespace {

/// Why the call has no program; empty: it has one.
std::string no_program(const LibraryPlan& plan, const Team& team, const LibraryMachine& machine,
                       Reducers reducers) {
  const bool nvls = plan.algorithm == LibraryAlgorithm::nvls || plan.algorithm == LibraryAlgorithm::nvls_tree;
  const bool collnet =
      plan.algorithm == LibraryAlgorithm::collnet_direct || plan.algorithm == LibraryAlgorithm::collnet_chain;
  if (!nvls && !collnet) return "";
  if (nvls && !reducers.nodes)
    return "a node's GPUs must be dimension 0, and that a Switch (with `topology.fidelity_rules` at the "
           "fidelity that it has for the first of them that sends messages)";
  const bool between = collnet || (plan.algorithm == LibraryAlgorithm::nvls && plan.nodes > 1);
  if (between && !reducers.network)
    return "the nodes must be joined by one Switch dimension (with `topology.fidelity_rules` at the fidelity "
           "that it has for the first of them that sends messages)";
  const ChannelOrders orders(machine, team);
  const auto places = [&](const std::vector<uint32_t>& node) {
    std::vector<uint32_t> of;
    for (const uint32_t member : node) of.push_back(orders.local(member));
    return of;
  };
  for (const std::vector<uint32_t>& node : orders.nodes()) {
    if (node.size() != orders.nodes().front().size()) return "its nodes must have equally many ranks";
    if (between && places(node) != places(orders.nodes().front()))
      return "its ranks must be at the same places of all nodes, so that switches join them";
  }
  return "";
}

}  // namespace

Program make_program(const LibraryPlan& plan, CollectiveOp op, const LibraryParameters& parameters,
                     const LibraryMachine& machine, const Team& team, Buffers buffers, Reducers reducers) {
  if (const std::string why = no_program(plan, team, machine, reducers); !why.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: {} of {} B on {} ranks runs {} {}, which `message` and `packet` fidelity cannot "
                    "run: {}; write `fidelity: analytical` for all dimensions, or choose another algorithm "
                    "in a file of `collectives.overrides`",
                    machine.origin.empty() ? "machine" : machine.origin, to_string(op), plan.bytes,
                    plan.ranks, to_string(plan.algorithm), to_string(plan.protocol), why));
  ProgramBuilder out(static_cast<uint32_t>(team.npus.size()), std::move(buffers), plan.wire_factor);
  const Making making{plan, PlanCosts(plan, parameters), machine, team, out};
  switch (plan.algorithm) {
    case LibraryAlgorithm::ring:
      if (plan.op == LibraryOp::broadcast || plan.op == LibraryOp::reduce) {
        make_chain(making);
      } else {
        make_ring(making);
      }
      break;
    case LibraryAlgorithm::tree:
    case LibraryAlgorithm::collnet_chain:
      make_tree(making);
      break;
    case LibraryAlgorithm::collnet_direct:
      make_collnet_direct(making);
      break;
    case LibraryAlgorithm::all_pairs:
      make_all_pairs(making);
      break;
    case LibraryAlgorithm::pat:
      make_pat(making);
      break;
    case LibraryAlgorithm::point_to_point:
      make_point_to_point(making, op);
      break;
    case LibraryAlgorithm::nvls:
    case LibraryAlgorithm::nvls_tree:
      make_nvls(making);
      break;
    default:
      break;
  }
  return out.finish();
}

}  // namespace weft::library
