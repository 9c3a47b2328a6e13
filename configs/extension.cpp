// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/extension.h"

namespace weft {
namespace {

PluginLoader& loader() {
  static PluginLoader current = nullptr;
  return current;
}

}  // namespace

void set_plugin_loader(PluginLoader l) {
  loader() = l;
}

PluginLoader plugin_loader() {
  return loader();
}

}  // namespace weft
