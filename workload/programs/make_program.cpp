// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/make_program.h"

#include <fmt/format.h>

#include "workload/programs/program_parts.h"

namespace weft::library {

namespace {

/// Why the call has no program; empty: it has one.
std::string no_program(const LibraryPlan& plan, const Team& team, const LibraryMachine& machine,
                       bool switches) {
  switch (plan.algorithm) {
    case LibraryAlgorithm::nvls:
    case LibraryAlgorithm::nvls_tree:
      break;
    case LibraryAlgorithm::collnet_direct:
    case LibraryAlgorithm::collnet_chain:
      return "no program is made of it";
    default:
      return "";
  }
  if (!switches)
    return "a node's GPUs must be dimension 0, and that a Switch (with `topology.fidelity_rules` at the "
           "fidelity that it has for the first of them that sends messages)";
  if (plan.algorithm == LibraryAlgorithm::nvls && plan.nodes > 1)
    return "over several nodes it needs switches of the network that reduce (SHARP)";
  const ChannelOrders orders(machine, team);
  for (const std::vector<uint32_t>& node : orders.nodes())
    if (node.size() != orders.nodes().front().size()) return "its nodes must have equally many ranks";
  return "";
}

}  // namespace

Program make_program(const LibraryPlan& plan, CollectiveOp op, const LibraryParameters& parameters,
                     const LibraryMachine& machine, const Team& team, Buffers buffers, bool switches) {
  if (const std::string why = no_program(plan, team, machine, switches); !why.empty())
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
      make_tree(making);
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
