// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_GENERATE_MODELS_H
#define WEFT_SC_MAIN_GENERATE_MODELS_H

#include "sc_main/command.h"

namespace CLI {
class App;
}

namespace weft::cli {

/// `weft generate resnet50`, `resnet101`, `resnet152`, `bert`, `dlrm`, `deeplight`, `micro` and `layers`.
void add_generate_models(CLI::App& generate, Action& action);

}  // namespace weft::cli

#endif
