// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/plugins.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "configs/extension.h"
#include "configs/loading/errors.h"

namespace weft::loading {

std::string absolute_path(const std::string& path, const std::string& config_file) {
  namespace fs = std::filesystem;
  if (path.empty()) return path;
  return fs::absolute(fs::path(config_file).parent_path() / path).lexically_normal().string();
}

void load_plugins(const DocumentNode& root, const std::string& config_file) {
  const DocumentNode* const plugins = root.kind == DocumentNode::Kind::map ? root.find("plugins") : nullptr;
  if (plugins == nullptr) return;
  std::vector<const DocumentNode*> paths;
  if (plugins->kind == DocumentNode::Kind::scalar) paths.push_back(plugins);
  for (const DocumentNode& item : plugins->items)
    if (item.kind == DocumentNode::Kind::scalar) paths.push_back(&item);
  for (const DocumentNode* path : paths) {
    if (path->scalar.empty()) continue;
    const std::string origin = fmt::format("{}: key `plugins`", path->origin);
    if (plugin_loader() == nullptr)
      fail(fmt::format(
          "{}: '{}': this program loads no plugins; call weft::enable_plugins() in it (sc_models/plugin.h)",
          origin, path->scalar));
    plugin_loader()(absolute_path(path->scalar, config_file), origin);
  }
}

}  // namespace weft::loading
