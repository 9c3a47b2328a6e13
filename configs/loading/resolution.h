// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the stages of resolve() share, and the stages in their order. Each reads what was written and what the
// stages before it have resolved, fills its part of the configuration, and reports what is wrong. Private to
// this folder.

#ifndef WEFT_CONFIGS_LOADING_RESOLUTION_H
#define WEFT_CONFIGS_LOADING_RESOLUTION_H

#include <optional>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/graph_reader.h"
#include "configs/keys.h"
#include "configs/loading/errors.h"
#include "configs/loading/raw_config.h"
#include "configs/tree_notation.h"

namespace weft::loading {

struct Resolution {
  Resolution(const RawConfig& written, std::string from, Errors& found);

  /// What was written for a key; null: nothing.
  const RawValue* find(const KeySpec& key) const;
  const RawValue* find(const char* path) const;
  /// Adds to `errors`.
  ReportError reporter();
  /// Reports what is wrong with a key, where it was written.
  void complain(const std::string& path, const std::string& what);

  const RawConfig& raw;
  const std::string file;
  const std::string end;  ///< where missing keys are reported
  Errors& errors;
  Config config;
  std::optional<TreeNotation> tree;                ///< of a notation that is a single tree
  std::vector<std::optional<TreeNotation>> trees;  ///< of other notations, by dimension
};

/// The value that an absent key has.
Value default_of(const KeySpec& key);

/// Dimensions by the notation without their links, or the graph.
void resolve_topology(Resolution& r);
/// Links and switches of the dimensions, by the entries of `topology.dimensions`.
void resolve_dimensions(Resolution& r);
/// The graph of a notation that is a single tree, whose levels resolve_dimensions() has resolved.
void resolve_tree(Resolution& r);
/// `topology.logical` and `topology.mapping`.
void resolve_logical(Resolution& r);
/// The algorithms of an operation.
void resolve_algorithms(Resolution& r, const KeySpec& key);
void resolve_rules(Resolution& r);
void resolve_fidelity_rules(Resolution& r);
/// What the keys of `packet` say together. Whether it fits the topology is known when the network is built.
void resolve_packet(Resolution& r);
/// What follows from the device of model `banked`; what is written besides must agree with it.
void resolve_hbm(Resolution& r);
/// What the keys of `memory.pool` say together.
void resolve_pool(Resolution& r);
/// What the keys of `memory.host` and `memory.nvme` say together.
void resolve_tiers(Resolution& r);
/// `collectives.library` and what it goes with.
void check_library(Resolution& r);
/// `packet.sampling` and what it does not go with.
void check_sampling(Resolution& r);
void check_roofline(Resolution& r);
/// The ranks and lists of `environment`.
void resolve_environment(Resolution& r);

}  // namespace weft::loading

#endif
