// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "insight/what_if.h"

#include <algorithm>

namespace weft::insight {
namespace {

constexpr auto kNone = static_cast<Lever::Kind>(255);  ///< nothing moves it
Lever::Kind kind_of(Term term) {
  switch (term) {
    case Term::compute:
      return Lever::Kind::compute;
    case Term::local_memory:
      return Lever::Kind::local_memory;
    case Term::remote_memory:
      return Lever::Kind::remote_memory;
    case Term::queueing:
    case Term::serialise:
      return Lever::Kind::bandwidth;
    case Term::latency:
      return Lever::Kind::latency;
    case Term::endpoint:
      return Lever::Kind::endpoint;
    case Term::reduction:
      return Lever::Kind::reduction;
    case Term::wait:
    case Term::unrecorded:
      break;
  }
  return kNone;
}

/// The time of a path that each kind of lever moves; of links by their numbers.
struct ByKind {
  explicit ByKind(uint32_t links) : bandwidth(links), latency(links) {}
  void add(const Piece& piece) {
    const Lever::Kind kind = kind_of(piece.term);
    if (kind == Lever::Kind::bandwidth) {
      bandwidth[piece.place] += piece.time();
    } else if (kind == Lever::Kind::latency) {
      latency[piece.place] += piece.time();
    } else if (kind != kNone) {
      others[static_cast<uint32_t>(kind)] += piece.time();
    }
  }
  Picoseconds of(const CausalLog& log, const Lever& lever) const {
    const bool rates = lever.kind == Lever::Kind::bandwidth;
    if (!rates && lever.kind != Lever::Kind::latency) return others[static_cast<uint32_t>(lever.kind)];
    const std::vector<Picoseconds>& times = rates ? bandwidth : latency;
    Picoseconds sum = 0;
    for (uint32_t link = 0; link < times.size(); ++link)
      if (times[link] != 0 && log.link(link).link_class == lever.link_class) sum += times[link];
    return sum;
  }

  std::vector<Picoseconds> bandwidth, latency;
  Picoseconds others[7] = {};  ///< by kind
};

Picoseconds fall(Picoseconds time, uint32_t percent) {
  return static_cast<Picoseconds>(static_cast<Wide>(time) * percent / (100 + percent));
}

}  // namespace

std::string Lever::name() const {
  switch (kind) {
    case Kind::compute:
      return "compute";
    case Kind::local_memory:
      return "local memory";
    case Kind::remote_memory:
      return "remote memory";
    case Kind::bandwidth:
      return "bandwidth of " + link_class;
    case Kind::latency:
      return "latency of " + link_class;
    case Kind::endpoint:
      return "endpoint delay";
    case Kind::reduction:
      return "reduction";
  }
  return "";
}

std::vector<Lever> levers_of(const CausalLog& log) {
  using Kind = Lever::Kind;
  std::vector<Lever> levers;
  for (const Kind kind :
       {Kind::compute, Kind::local_memory, Kind::remote_memory, Kind::endpoint, Kind::reduction})
    levers.push_back({kind, ""});
  std::vector<std::string> classes;
  for (uint32_t l = 1; l < log.links(); ++l) {
    const std::string& name = log.link(l).link_class;
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) classes.push_back(name);
  }
  std::sort(classes.begin(), classes.end());
  for (const std::string& name : classes) {
    levers.push_back({Kind::bandwidth, name});
    levers.push_back({Kind::latency, name});
  }
  return levers;
}

PathLength measure(const CausalLog& log, const std::vector<Lever>& levers, const std::vector<Piece>& pieces) {
  PathLength path;
  ByKind times(log.links());
  for (const Piece& piece : pieces) {
    path.length += piece.time();
    times.add(piece);
  }
  for (const Lever& lever : levers) path.by_lever.push_back(times.of(log, lever));
  return path;
}

Outcome what_if(const std::vector<PathLength>& paths, uint32_t lever, uint32_t percent) {
  Outcome outcome;
  outcome.on_path = paths[0].by_lever[lever];
  outcome.alone = fall(outcome.on_path, percent);
  Picoseconds longest = paths[0].length - outcome.alone;
  for (uint32_t i = 1; i < paths.size(); ++i) {
    const Picoseconds length = paths[i].length - fall(paths[i].by_lever[lever], percent);
    if (length <= longest) continue;
    longest = length;
    outcome.limited_by = i;
  }
  outcome.falls = paths[0].length - std::min(longest, paths[0].length);
  return outcome;
}

}  // namespace weft::insight
