// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Parts of an instant. A call of a part comes when nothing is left to run at this time, neither a process of
// the kernel nor a call of an earlier part. So what happens in a part does not depend on the order in which
// the kernel runs processes: all that comes before has happened, whichever of it came first.
//
// What a call starts runs before the next one: a call of a later part may find that the instant goes on with
// an earlier part again.

#ifndef WEFT_SC_MODELS_SETTLED_CALL_H
#define WEFT_SC_MODELS_SETTLED_CALL_H

#include <functional>
#include <systemc>
#include <vector>

namespace weft {

/// The parts of an instant, in order. Before them: the processes of the kernel (execution engines, memories,
/// routers and interfaces of packet networks), until they rest.
enum class InstantPart : unsigned {
  fabric,    ///< NMUs and switches (ActivationWheel)
  starts,    ///< collectives that all members may have started by now (MirroredStarts, RepeatedCollectives)
  decisions  ///< who starts a chunk beyond the slots (SlotWaits)
};

class SettledCall final : public sc_core::sc_module {
 public:
  SettledCall(sc_core::sc_module_name name, InstantPart part, std::function<void()> call);
  ~SettledCall() override;

  /// Asks for the call; more than once until it comes: one call.
  void request();
  /// The call at once if its turn has come already, otherwise request(). For processes that do nothing else.
  void call();

 private:
  void run();
  void poll();

  static constexpr size_t kParts = 3;
  InstantPart part_;
  std::function<void()> call_;
  sc_core::sc_event wake_;
  bool waits_ = false;
  /// Those of a simulation that wait, by part.
  static std::vector<SettledCall*> waiting_[kParts];
  /// The one whose process looks whether anything else is left to run: two of them would take each other for
  /// that. Null: none waits.
  static SettledCall* poller_;
};

}  // namespace weft

#endif
