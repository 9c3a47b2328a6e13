// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_WAVES_H
#define WEFT_VCD_WAVES_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vcd/glob.h"
#include "vcd/gtkwave_view.h"
#include "vcd/probe_hub.h"
#include "vcd/vcd_writer.h"
#include "vcd/writer_thread.h"

namespace weft::vcd {

struct WavesOptions {
  std::string selection;  ///< see Glob; empty: nothing is recorded and no file is made
  WriterOptions writer;   ///< file, window, budget and clock
  /// The file is written by a second thread, if the writer has a clock and the machine a second core. It is
  /// the same file; errors of the writer come a little later.
  bool thread = true;
  bool view = true;                   ///< write a GTKWave view beside the file
  std::vector<ViewSection> sections;  ///< of the view
  /// If set, the file is written as `writer.path` + this, and close() gives it its name and writes the view:
  /// what a killed program leaves is not taken for a whole waveform.
  std::string unfinished_suffix;
  /// Patterns match names with and without this beginning: the module that everything is in.
  std::string optional_scope;
};

/// The waveform file of one run: a listener that wants what is selected. A default-constructed Waves selects
/// nothing.
///
///     ProbeHub probes;
///     Waves waves(options);
///     waves.listen(probes);
class Waves final : public ProbeListener {
 public:
  Waves() = default;
  /// Throws GlobError, WriteError and what VcdWriter's constructor throws.
  explicit Waves(WavesOptions options);
  /// As the writer's destructor. The view is written if begin() never was called.
  ~Waves() override;
  Waves(const Waves&) = delete;
  Waves& operator=(const Waves&) = delete;

  /// True if a file is being written.
  bool on() const { return writer_ != nullptr; }

  /// Joins the hub, if a file is being written.
  void listen(ProbeHub& probes);

  // ProbeListener. Errors are those of VcdWriter::add_... and VcdWriter::probe.
  bool wants(std::string_view name) override;
  SignalId declared(const Signal& signal) override;
  bool aliased(const Signal& signal, SignalId other) override {
    at_rest().add_alias(signal.name, other);
    return true;
  }
  std::optional<SignalId> gated(const Signal& signal, SignalId gate) override {
    return at_rest().add_gated_real(signal.name, gate);
  }
  void changed(Time t, SignalId signal, uint64_t value) override { probe(t, signal, value); }
  void changed(Time t, SignalId signal, double value) override { probe(t, signal, value); }
  void changed(Time t, SignalId signal, std::string_view value) override { probe(t, signal, value); }
  void spanned(Time start, Time end, SignalId signal, Time) override {
    if (thread_ != nullptr) return thread_->span(start, end, signal);
    writer_->span(start, end, signal);
  }
  FutureHandle expected(Time t, SignalId signal, uint64_t value) override { return ahead(t, signal, value); }
  FutureHandle expected(Time t, SignalId signal, double value) override { return ahead(t, signal, value); }
  FutureHandle expected(Time t, SignalId signal, std::string_view value) override {
    return ahead(t, signal, value);
  }
  bool revoked(const FutureHandle& handle) override {
    return thread_ != nullptr ? thread_->revoke(handle) : writer_->revoke(handle);
  }
  void counted(const Steps& steps, SignalId signal, int by) override {
    if (thread_ != nullptr) return thread_->add(steps, signal, by);
    writer_->add(steps, signal, by);
  }

  /// Ends elaboration: writes the view. Signals can be added until time first moves, but the view lists those
  /// that exist now. Throws WriteError.
  void begin();

  /// Writes everything up to `end_time` (ps) and closes the file; see VcdWriter::close. Throws WriteError.
  void close(Time end_time);

  /// The patterns that selected no signal; for a warning after elaboration.
  std::vector<std::string> unmatched() const { return glob_.unmatched(); }

  /// Null when nothing is recorded. It has been told everything, and is at rest until the next signal
  /// changes. Throws what WriterThread::settle() throws.
  VcdWriter* writer() { return settled(); }
  const VcdWriter* writer() const { return settled(); }
  /// The view's file; empty if none is written.
  const std::string& view_path() const { return view_path_; }

 private:
  template <class Value>
  void probe(Time t, SignalId signal, const Value& value) {
    if (thread_ != nullptr) return thread_->probe(t, signal, value);
    writer_->probe(t, signal, value);
  }
  template <class Value>
  FutureHandle ahead(Time t, SignalId signal, const Value& value) {
    return thread_ != nullptr ? thread_->probe_at(t, signal, value) : writer_->probe_at(t, signal, value);
  }
  /// To declare a signal: initial values of others may have been told.
  VcdWriter& at_rest() {
    if (thread_ != nullptr) thread_->rest();
    return *writer_;
  }
  VcdWriter* settled() const {
    if (thread_ != nullptr) thread_->settle();
    return writer_.get();
  }

  Glob glob_;
  std::string optional_scope_;
  std::unique_ptr<VcdWriter> writer_;
  std::unique_ptr<WriterThread> thread_;  ///< null: signals go to the writer at once
  std::string view_path_;
  std::vector<ViewSection> sections_;
  std::string path_;  ///< that the file gets in close(), if it has another one
  bool begun_ = false;
};

}  // namespace weft::vcd

#endif
