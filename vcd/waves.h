// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_VCD_WAVES_H
#define WEFT_VCD_WAVES_H

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vcd/glob.h"
#include "vcd/probe.h"
#include "vcd/vcd_writer.h"

namespace weft::vcd {

struct WavesOptions {
  std::string selection;  ///< see Glob; empty: nothing is recorded and no file is made
  WriterOptions writer;   ///< file, window, budget and clock
  bool view = true;       ///< write a GTKWave view beside the file
  /// If set, the file is written as `writer.path` + this, and close() gives it its name and writes the view:
  /// what a killed program leaves is not taken for a whole waveform.
  std::string unfinished_suffix;
  /// Patterns match names with and without this beginning: the module that everything is in.
  std::string optional_scope;
};

/// The signals of one run. Modules register names at elaboration and keep the probe they are given; it is
/// empty if the name is not selected. A default-constructed Waves selects nothing.
///
///     bytes_ = waves.number(name() + ".bytes", 64);
///     state_ = waves.enumeration(name() + ".state", {"idle", "send"});
class Waves {
 public:
  Waves() = default;
  /// Throws GlobError, WriteError and what VcdWriter's constructor throws.
  explicit Waves(WavesOptions options);
  /// As the writer's destructor. The view is written if begin() never was called.
  ~Waves();
  Waves(const Waves&) = delete;
  Waves& operator=(const Waves&) = delete;

  /// True if a file is being written. Modules may skip building names when it is false.
  bool on() const { return writer_ != nullptr; }

  /// Errors are those of VcdWriter::add_...; a name that is not selected is not checked.
  Probe bit(std::string_view name);
  Probe number(std::string_view name, unsigned width_bits);
  Probe real(std::string_view name);
  Probe enumeration(std::string_view name, const EnumTable& table);
  Probe text(std::string_view name);

  /// Ends elaboration: writes the view. Signals can be added until time first moves, but the view lists those
  /// that exist now. Throws WriteError.
  void begin();

  /// Writes everything up to `end_time` (ps) and closes the file; see VcdWriter::close. Throws WriteError.
  void close(Time end_time);

  /// The patterns that selected no signal; for a warning after elaboration.
  std::vector<std::string> unmatched() const { return glob_.unmatched(); }

  /// One name of every kind of signal there is, selected or not: names that differ only in their numbers are
  /// of one kind.
  std::vector<std::string> examples() const;

  /// Null when nothing is recorded.
  VcdWriter* writer() { return writer_.get(); }
  const VcdWriter* writer() const { return writer_.get(); }
  /// The view's file; empty if none is written.
  const std::string& view_path() const { return view_path_; }

 private:
  bool selected(std::string_view name);

  Glob glob_;
  std::string optional_scope_;
  std::map<std::string, std::string> examples_;  ///< by the name with a # for every number
  std::unique_ptr<VcdWriter> writer_;
  std::string view_path_;
  std::string path_;  ///< that the file gets in close(), if it has another one
  bool begun_ = false;
};

}  // namespace weft::vcd

#endif
