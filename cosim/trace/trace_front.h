// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A trace file for `sc_trace` whose signals land in Weft's waveforms, so that a block of somebody else's and
// the fabric around it stand in one file.

#ifndef WEFT_COSIM_TRACE_TRACE_FRONT_H
#define WEFT_COSIM_TRACE_TRACE_FRONT_H

#include <cstddef>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "vcd/probe_hub.h"

namespace weft::cosim {

/// Takes every type that IEEE 1666 lets sc_trace have:
///
///     TraceFront trace(*context.probes, "ip.");
///     sc_core::sc_trace(&trace, signal, "state");    // the signal ip.state
///
/// A signal that nobody listens to costs nothing. Those that are recorded are looked at when time advances,
/// as every sc_trace_file does; Weft's own signals are pushed. Bits, integers of at most 64 bits,
/// floating-point numbers, fixed-point numbers (as real) and enumerations keep their kind. sc_logic is an
/// enumeration of 0, 1, Z and X; wider integers and sc_lv are text, most significant digit first; sc_time is
/// picoseconds; sc_event is 1 in each instant in which it is notified. Changes within one instant are not
/// kept. The hub and the objects outlive the front or the simulation.
class TraceFront final : public sc_core::sc_trace_file {
 public:
  /// `prefix`: before every name.
  explicit TraceFront(vcd::ProbeHub& probes, std::string prefix = "");
  ~TraceFront() override;
  TraceFront(const TraceFront&) = delete;
  TraceFront& operator=(const TraceFront&) = delete;

  /// How many signals are recorded.
  size_t signals() const { return watched_.size(); }

  void trace(const sc_core::sc_event& object, const std::string& name) override;
  void trace(const sc_core::sc_time& object, const std::string& name) override;
  void trace(const bool& object, const std::string& name) override;
  void trace(const sc_dt::sc_bit& object, const std::string& name) override;
  void trace(const sc_dt::sc_logic& object, const std::string& name) override;
  void trace(const unsigned char& object, const std::string& name, int width) override;
  void trace(const unsigned short& object, const std::string& name, int width) override;
  void trace(const unsigned int& object, const std::string& name, int width) override;
  void trace(const unsigned long& object, const std::string& name, int width) override;
  void trace(const char& object, const std::string& name, int width) override;
  void trace(const short& object, const std::string& name, int width) override;
  void trace(const int& object, const std::string& name, int width) override;
  void trace(const long& object, const std::string& name, int width) override;
  void trace(const sc_dt::int64& object, const std::string& name, int width) override;
  void trace(const sc_dt::uint64& object, const std::string& name, int width) override;
  void trace(const float& object, const std::string& name) override;
  void trace(const double& object, const std::string& name) override;
  void trace(const sc_dt::sc_int_base& object, const std::string& name) override;
  void trace(const sc_dt::sc_uint_base& object, const std::string& name) override;
  void trace(const sc_dt::sc_signed& object, const std::string& name) override;
  void trace(const sc_dt::sc_unsigned& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxval& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxval_fast& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxnum& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxnum_fast& object, const std::string& name) override;
  void trace(const sc_dt::sc_bv_base& object, const std::string& name) override;
  void trace(const sc_dt::sc_lv_base& object, const std::string& name) override;
  /// `literals` ends with a null pointer.
  void trace(const unsigned int& object, const std::string& name, const char** literals) override;

  /// A waveform has no place for comments: they are told as a SystemC information.
  void write_comment(const std::string& comment) override;
  /// Waveforms are in picoseconds: nothing to set.
  void set_time_unit(double, sc_core::sc_time_unit) override {}

 protected:
  void cycle(bool delta_cycle) override;

 private:
  struct Watched;
  template <typename Now>
  void watch(const vcd::Probe& probe, Now now);
  template <typename Integer>
  void integer(const Integer& object, const std::string& name, int width);
  template <typename Vector>
  void vector(const Vector& object, const std::string& name, int width);
  template <typename Number>
  void real(const Number& object, const std::string& name);
  std::string full(const std::string& name) const;

  vcd::ProbeHub& probes_;
  const std::string prefix_;
  std::vector<std::unique_ptr<Watched>> watched_;
};

}  // namespace weft::cosim

#endif
