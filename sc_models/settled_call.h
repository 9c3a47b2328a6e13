// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Calls back when the present instant is over: when nothing is left to run at this time.

#ifndef WEFT_SC_MODELS_SETTLED_CALL_H
#define WEFT_SC_MODELS_SETTLED_CALL_H

#include <functional>
#include <systemc>
#include <vector>

namespace weft {

class SettledCall final : public sc_core::sc_module {
 public:
  SettledCall(sc_core::sc_module_name name, std::function<void()> call);
  ~SettledCall() override;

  /// Asks for the call; more than once in an instant: one call.
  void request();

 private:
  void run();

  std::function<void()> call_;
  sc_core::sc_event wake_;
  /// All of a simulation that wait for the end of this instant. Only the first one's process looks whether
  /// anything else is left to run: two of them would take each other for that.
  static std::vector<SettledCall*> waiting_;
};

}  // namespace weft

#endif
