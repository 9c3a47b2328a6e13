// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/make_program.h"

#include <fmt/format.h>

#include "workload/programs/program_parts.h"

namespace weft::library {

const char* no_program(LibraryAlgorithm algorithm) {
  switch (algorithm) {
    case LibraryAlgorithm::nvls:
    case LibraryAlgorithm::nvls_tree:
    case LibraryAlgorithm::collnet_direct:
    case LibraryAlgorithm::collnet_chain:
      return "switches reduce in it, and programs send between GPUs only";
    default:
      return "";
  }
}

Program make_program(const LibraryPlan& plan, CollectiveOp op, const LibraryParameters& parameters,
                     const LibraryMachine& machine, const Team& team, Buffers buffers) {
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
    default: {
      const char* const why = no_program(plan.algorithm);
      if (*why == '\0') break;
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: {} of {} B on {} ranks runs {} {}, which `message` and `packet` fidelity cannot "
                      "run: {}; write `fidelity: analytical` for all dimensions, or choose another algorithm "
                      "in a file of `collectives.overrides`",
                      machine.origin.empty() ? "machine" : machine.origin, to_string(op), plan.bytes,
                      plan.ranks, to_string(plan.algorithm), to_string(plan.protocol), why));
    }
  }
  return out.finish();
}

}  // namespace weft::library
