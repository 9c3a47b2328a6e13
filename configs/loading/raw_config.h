// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The first stage of loading: what was written, each value checked on its own against the table of keys.

#ifndef WEFT_CONFIGS_LOADING_RAW_CONFIG_H
#define WEFT_CONFIGS_LOADING_RAW_CONFIG_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include "configs/document.h"
#include "configs/keys.h"
#include "configs/loading/errors.h"

namespace weft::loading {

struct RawValue {
  Value value;
  std::string origin;
};

/// The keys that were written, by their row in the table.
using RawValues = std::map<const KeySpec*, RawValue>;

struct RawConfig {
  RawValues values;
  std::vector<RawValues> dimensions;
  std::vector<std::string> dimension_origins;
  std::string dimensions_origin;      ///< of the list; empty: there is none
  std::set<const SectionSpec*> seen;  ///< sections that were written
  std::map<const KeySpec*, std::string>
      broken;  ///< keys that were written wrongly: not missing, but without value
  std::vector<std::set<const KeySpec*>> broken_dimensions;
  /// The levels of a tree above the NPUs.
  struct Levels {
    std::vector<RawValues> values;
    std::vector<std::string> origins;  ///< of each
    std::string origin;                ///< of the list; empty: there is none
  };
  std::vector<Levels> levels;  ///< by dimension
  // What graph_reader.h reads, where it was written; null: nowhere.
  const DocumentEntry* graph = nullptr;
  const DocumentEntry* routes = nullptr;
  const DocumentEntry* mapping = nullptr;
  struct Rules {
    std::vector<RawValues> values;  ///< of each
    std::vector<std::string> origins;
    std::set<size_t> broken;  ///< with a key that was written wrongly
  };
  Rules rules;               ///< collectives.rules
  Rules fidelity_rules;      ///< topology.fidelity_rules
  Rules implementations;     ///< implementations
  Rules expect;              ///< expect
  Rules jobs;                ///< jobs
  Rules emulated_classes;    ///< environment.classes
  Rules communicator_rules;  ///< environment.communicators
  Rules peer_rules;          ///< environment.peers
  std::string jobs_origin;   ///< of the list; empty: there is none

  /// Those that a key of their table belongs to; null: it is no key of such a list.
  Rules* rules_of(const std::string& key_path) {
    if (key_path.rfind(kRulePrefix, 0) == 0) return &rules;
    if (key_path.rfind(kJobPrefix, 0) == 0) return &jobs;
    if (key_path.rfind(kImplementationPrefix, 0) == 0) return &implementations;
    if (key_path.rfind(kEmulatedClassPrefix, 0) == 0) return &emulated_classes;
    if (key_path.rfind(kCommunicatorRulePrefix, 0) == 0) return &communicator_rules;
    if (key_path.rfind(kPeerRulePrefix, 0) == 0) return &peer_rules;
    if (key_path.rfind(kExpectPrefix, 0) == 0) return &expect;
    return key_path.rfind(kFidelityRulePrefix, 0) == 0 ? &fidelity_rules : nullptr;
  }
};

/// Reads a document, which must outlive the result. What is wrong is added to `errors`.
RawConfig read_raw(const DocumentNode& root, Errors& errors);

}  // namespace weft::loading

#endif
