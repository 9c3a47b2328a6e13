// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/parts/parts_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>
#include <utility>

#include "configs/types.h"

namespace weft::cli {
namespace {

constexpr uint32_t kMostParts = 1024;
constexpr double kJoinWait_s = 120;

std::optional<uint32_t> whole_number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What launchers of parallel programs tell each process: its number, and how many there are.
struct Launcher {
  const char* name;
  const char* number;
  const char* count;
};
constexpr Launcher kLaunchers[] = {{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI", "PMI_RANK", "PMI_SIZE"},
                                   {"Slurm", "SLURM_PROCID", "SLURM_NTASKS"}};

/// (K, N) of `--part-of`.
std::pair<uint32_t, uint32_t> part_of(const std::string& option) {
  if (option != "auto") {
    const size_t slash = std::min(option.find('/'), option.size());
    const auto part = whole_number(std::string_view(option).substr(0, slash));
    const auto parts = whole_number(std::string_view(option).substr(std::min(slash + 1, option.size())));
    if (!part || !parts || *parts == 0 || *parts > kMostParts || *part >= *parts)
      throw UserError(
          ExitCode::usage,
          fmt::format("--part-of {}: give K/N, with N from 1 to {} and K from 0 to N - 1, or auto", option,
                      kMostParts));
    return {*part, *parts};
  }
  std::string looked_for;
  for (const Launcher& launcher : kLaunchers) {
    const char* const number = std::getenv(launcher.number);
    const char* const count = std::getenv(launcher.count);
    looked_for += fmt::format("{}{} and {} ({})", looked_for.empty() ? "" : ", ", launcher.number,
                              launcher.count, launcher.name);
    if (number == nullptr || count == nullptr) continue;
    return part_of(fmt::format("{}/{}", number, count));
  }
  throw UserError(
      ExitCode::usage,
      fmt::format("--part-of auto: no launcher says which part this is; none of these variables is set: "
                  "{}. Start it with mpirun or srun, or give K/N",
                  looked_for));
}

uint32_t number_of_parts(const std::string& option, uint32_t npus) {
  if (option == "auto") return std::max(1u, std::min({std::thread::hardware_concurrency(), 8u, npus}));
  const auto parts = whole_number(option);
  if (!parts || *parts == 0 || *parts > kMostParts)
    throw UserError(ExitCode::usage,
                    fmt::format("--parts {}: give a number from 1 to {}, or auto", option, kMostParts));
  return *parts;
}

}  // namespace

void add_parts_options(TextOptions& add, PartsOptions& options) {
  add("--parts", options.parts, "N",
      "Simulate in N processes, each with a part of the ranks, or auto: results do not change "
      "(docs/parts.md)");
  add("--parts-cut", options.cut, "CUT",
      "With --parts or --part-of: which ranks are in which part, as summary.json says it: \"rank / 64 % "
      "16\"");
  add("--part-of", options.part_of, "K/N",
      "This process is part K of N, or as mpirun or srun says: auto. Start one for each K; part 0 writes the "
      "results");
  add("--join", options.join, "HOST:PORT", "With --part-of: part 0 listens there, and the others join it");
  add("--join-wait", options.join_wait, "SECONDS",
      "With --part-of: so long the parts wait for each other (120)");
}

PartsAsked parts_asked_for(const PartsOptions& options, uint32_t npus) {
  PartsAsked asked;
  asked.cut = options.cut;
  if (options.part_of.empty()) {
    if (!options.join.empty() || !options.join_wait.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("{}: it needs --part-of K/N, which says which part this process is",
                                  options.join.empty() ? "--join-wait" : "--join"));
    if (options.parts.empty())
      throw UserError(
          ExitCode::usage,
          fmt::format("--parts-cut {}: it needs --parts or --part-of, which say how many parts there are",
                      options.cut));
    asked.parts = number_of_parts(options.parts, npus);
    asked.automatic = options.parts == "auto";
    if (asked.automatic && !options.cut.empty())
      throw UserError(
          ExitCode::usage,
          fmt::format("--parts-cut {}: --parts auto chooses the cut itself; give --parts 2 or more",
                      options.cut));
    asked.text = fmt::format("--parts {}", asked.automatic ? fmt::format("{}", asked.parts) : options.parts);
    return asked;
  }
  if (!options.parts.empty())
    throw UserError(ExitCode::usage,
                    "--part-of: this process is one part, and --parts makes several; leave one of them out");
  if (options.join.empty())
    throw UserError(ExitCode::usage, fmt::format("--part-of {}: give --join HOST:PORT, where part 0 listens",
                                                 options.part_of));
  const auto [self, parts] = part_of(options.part_of);
  asked.parts = parts;
  asked.self = self;
  asked.at = parts::parse_address("--join", options.join);
  asked.wait_seconds = kJoinWait_s;
  asked.text = fmt::format("--part-of {}/{}", self, parts);
  if (!options.join_wait.empty()) {
    const auto seconds = whole_number(options.join_wait);
    if (!seconds || *seconds == 0)
      throw UserError(ExitCode::usage,
                      fmt::format("--join-wait {}: give whole seconds, 1 or more", options.join_wait));
    asked.wait_seconds = *seconds;
  }
  return asked;
}

}  // namespace weft::cli
