// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ranks and lists of `environment`.

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/keys.h"
#include "configs/loading/resolution.h"
#include "configs/npu_list.h"

namespace weft::loading {
namespace {

std::vector<uint32_t> ranks_in(Resolution& r, const RawValue& value, const std::string& key) {
  try {
    return expand_npus(std::get<std::vector<std::string>>(value.value), r.config.npus());
  } catch (const UserError& e) {
    r.errors.add(value.origin, key,
                 fmt::format("{}; the machine's ranks are 0 to {}", e.what(), r.config.npus() - 1));
    return {};
  }
}

/// The entries of a list whose keys are all right. `prefix`: of their keys.
template <typename Entry>
std::vector<Entry> entries(Resolution& r, const RawConfig::Rules& list, const char* path,
                           const char* prefix) {
  std::vector<Entry> made;
  for (size_t i = 0; i < list.values.size(); ++i) {
    if (list.broken.count(i) != 0) continue;
    Entry entry;
    const std::string name = fmt::format("{}[{}]", path, i);
    entry.origin = fmt::format("{}: key `{}`", list.origins[i], name);
    for (const KeySpec& key : keys()) {
      if (key.path.rfind(prefix, 0) != 0) continue;
      const auto written = list.values[i].find(&key);
      if (written != list.values[i].end())
        key.set(entry, written->second.value);
      else if (key.required)
        r.errors.add(list.origins[i], name + key.path.substr(std::string(prefix).size() - 1),
                     fmt::format("missing; add it: {}", allowed_values(key)));
      else if (!key.optional)
        key.set(entry, default_of(key));
    }
    made.push_back(std::move(entry));
  }
  return made;
}

}  // namespace

void resolve_environment(Resolution& r) {
  if (!r.config.environment) return;
  EnvironmentConfig& environment = *r.config.environment;
  if (const RawValue* real = r.find("environment.real"))
    environment.real = ranks_in(r, *real, "environment.real");
  const RawConfig::Rules& classes = r.raw.emulated_classes;
  environment.classes = entries<EmulatedClass>(r, classes, kEmulatedClassesPath, kEmulatedClassPrefix);
  for (size_t i = 0, at = 0; i < classes.values.size(); ++i) {
    if (classes.broken.count(i) != 0) continue;
    const auto ranks = classes.values[i].find(find_key(std::string(kEmulatedClassPrefix) + "ranks"));
    if (ranks != classes.values[i].end())
      environment.classes[at].ranks =
          ranks_in(r, ranks->second, fmt::format("{}[{}].ranks", kEmulatedClassesPath, i));
    ++at;
  }
  environment.communicators =
      entries<CommunicatorRule>(r, r.raw.communicator_rules, kCommunicatorRulesPath, kCommunicatorRulePrefix);
  environment.peers = entries<PeerRule>(r, r.raw.peer_rules, kPeerRulesPath, kPeerRulePrefix);
}

}  // namespace weft::loading
