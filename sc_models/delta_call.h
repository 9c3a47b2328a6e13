// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Calls back once in the next delta cycle: when everything that the present one starts has started.

#ifndef WEFT_SC_MODELS_DELTA_CALL_H
#define WEFT_SC_MODELS_DELTA_CALL_H

#include <functional>
#include <systemc>

namespace weft {

class DeltaCall final : public sc_core::sc_module {
 public:
  DeltaCall(sc_core::sc_module_name name, std::function<void()> call);

  /// Asks for the call; more than once in a delta cycle: one call.
  void request() { wake_.notify(sc_core::SC_ZERO_TIME); }

 private:
  void run();

  std::function<void()> call_;
  sc_core::sc_event wake_;
};

}  // namespace weft

#endif
