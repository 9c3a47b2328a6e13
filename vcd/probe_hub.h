// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The one place where modules declare their signals, and where everything that looks at signals listens.

#ifndef WEFT_VCD_PROBE_HUB_H
#define WEFT_VCD_PROBE_HUB_H

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vcd/probe.h"

namespace weft::vcd {

/// The signals of one machine. Modules declare them when they are built and keep the probe they are given. It
/// is empty if no listener wants the signal:
///
///     bytes_ = probes.number(name() + ".bytes", 64);
///     state_ = probes.enumeration(name() + ".state", {"idle", "send"});
///
/// A signal that one listener wants goes to it directly; of several, each hears every change. The hub and its
/// listeners outlive the modules.
class ProbeHub {
 public:
  ProbeHub();
  ~ProbeHub();
  ProbeHub(const ProbeHub&) = delete;
  ProbeHub& operator=(const ProbeHub&) = delete;

  /// It hears the signals that are declared from now on. Throws std::logic_error when signals have been
  /// declared already: it would miss those.
  void join(ProbeListener& listener);

  /// True if anyone listens. Modules may skip building names when it is false.
  bool on() const { return !listeners_.empty(); }

  /// Errors are those of the listeners (of waveforms: VcdWriter::add_...); a name that nobody wants is not
  /// checked.
  Probe bit(std::string_view name) { return declare({name, Kind::bit, 1, nullptr}); }
  /// A bit that has the value of another at all times; `other` may be empty. Both probes are to be told. To
  /// listeners that can, it is another name of `other`, and they hear of its changes once.
  Probe bit_like(std::string_view name, const Probe& other) {
    return declare({name, Kind::bit, 1, nullptr}, other);
  }
  Probe number(std::string_view name, unsigned width_bits) {
    return declare({name, Kind::number, width_bits, nullptr});
  }
  /// A real number that is 0 unless a bit is set: `always` is to be told of every change, `while_set` only of
  /// the values while the bit is set. The bit is the one of `gate` or, for listeners that do not hear that,
  /// of `other`.
  struct Gated {
    Probe always;
    Probe while_set;
  };
  Gated gated_real(std::string_view name, const Probe& gate, const Probe& other);
  Probe real(std::string_view name) { return declare({name, Kind::real, 64, nullptr}); }
  Probe enumeration(std::string_view name, const EnumTable& table) {
    return declare({name, Kind::enumeration, 0, &table});
  }
  Probe text(std::string_view name) { return declare({name, Kind::text, 1, nullptr}); }

  /// One name of every kind of signal there is, wanted or not: names that differ only in their numbers are of
  /// one kind.
  std::vector<std::string> examples() const;

 private:
  class Several;
  Probe declare(const Signal& signal, const Probe& same = {});
  /// How the listener hears of `probe`; null: not at all.
  const Probe::End* end_of(const ProbeListener& listener, const Probe& probe) const;
  void remember(std::string_view name);
  Probe join_ends(std::vector<Probe::End> ends);

  std::vector<ProbeListener*> listeners_;
  std::unique_ptr<Several> several_;                       ///< passes on what more than one listener wants
  std::unordered_map<std::string, std::string> examples_;  ///< by the name with a # for every number
  std::string kind_;                                       ///< a key of it, while a name is remembered
};

}  // namespace weft::vcd

#endif
