// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/document.h"
#include "configs/input_file.h"
#include "configs/loading/errors.h"
#include "configs/loading/overrides.h"
#include "configs/loading/plugins.h"
#include "configs/loading/raw_config.h"
#include "configs/loading/resolver.h"

namespace weft {
using loading::fail;

namespace {

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> out;
  for (const std::string& text : texts) out.push_back(parse_override(text));
  return out;
}

}  // namespace

Override parse_override(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string origin = "--set " + text;
  if (equals == std::string::npos || equals == 0)
    fail(fmt::format("{}: not of the form KEY=VALUE; write for example `--set collectives.chunks=16`",
                     origin));
  return {text.substr(0, equals), text.substr(equals + 1), origin};
}

Config build_config(const std::string& text, const std::string& filename,
                    const std::vector<Override>& overrides) {
  const std::string shown = filename.empty() ? "configuration" : filename;
  DocumentNode root = read_document(text, shown);
  if (root.kind == DocumentNode::Kind::null && overrides.empty())
    fail(
        fmt::format("{}: the configuration is empty; start with `weft: {}` and a `topology:` (see "
                    "docs/configuration_reference.md)",
                    root.origin, kConfigVersion));
  if (root.kind != DocumentNode::Kind::map && root.kind != DocumentNode::Kind::null)
    fail(fmt::format("{}: the configuration is {}; it must be a mapping that starts with `weft: {}`",
                     root.origin, describe_node(root), kConfigVersion));
  // The notation first: it says how many dimensions `[i]` may mean.
  for (const bool notation : {true, false})
    for (const Override& o : overrides)
      if ((o.path == "topology.notation") == notation) loading::apply_override(root, o);

  loading::load_plugins(root, filename);
  loading::Errors errors;
  const loading::RawConfig raw = loading::read_raw(root, errors);
  return loading::resolve(raw, filename, errors);
}

Config parse_config(const std::string& text, const std::string& filename,
                    const std::vector<std::string>& overrides) {
  return build_config(text, filename, parse_overrides(overrides));
}

Config load_config(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_config(read_input(path, kConfigurationInput), path, overrides);
}

}  // namespace weft
