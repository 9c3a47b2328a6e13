// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <csignal>
#include <cstdlib>
#include <systemc>

#include "configs/large_heap.h"
#include "sc_main/command_line.h"
#include "sc_main/console.h"
#include "sc_main/interruption.h"
#include "sc_models/plugin.h"

namespace {

/// SystemC prints its banner from main(), before sc_main(): it looks at the environment, so the environment
/// is set before main().
__attribute__((constructor)) void no_banner() {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
}

}  // namespace

int sc_main(int argc, char** argv) {
  weft::put_heap_in_large_pages();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond the user's limit is an error like a full disk
  weft::cli::catch_signals();
  weft::enable_plugins();
  weft::cli::leave(weft::cli::run_command_line(argc, argv));
}
