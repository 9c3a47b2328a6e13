// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/waves.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "vcd/gtkwave_view.h"

namespace weft::vcd {

Waves::Waves(WavesOptions options)
    : glob_(options.selection),
      optional_scope_(std::move(options.optional_scope)),
      sections_(std::move(options.sections)) {
  if (glob_.empty()) return;
  if (options.view)
    view_path_ = std::filesystem::path(options.writer.path).replace_extension(".gtkw").string();
  if (!options.unfinished_suffix.empty()) {
    path_ = options.writer.path;
    options.writer.path += options.unfinished_suffix;
  }
  std::function<Time()> clock;
  if (options.thread && options.writer.clock && has_second_core()) {
    clock = std::exchange(options.writer.clock, nullptr);
    options.writer.before_flush = [this] {
      if (thread_ != nullptr) thread_->settle();
    };
  }
  writer_ = std::make_unique<VcdWriter>(std::move(options.writer));
  if (clock) thread_ = std::make_unique<WriterThread>(*writer_, std::move(clock));
}

Waves::~Waves() {
  try {
    begin();
  } catch (const std::exception&) {
    // The view is a convenience; a destructor cannot report that it is missing.
  }
}

void Waves::listen(ProbeHub& probes) {
  if (writer_ != nullptr) probes.join(*this);
}

SignalId Waves::declared(const Signal& signal) {
  VcdWriter& writer = at_rest();
  switch (signal.kind) {
    case Kind::bit:
      return writer.add_bit(signal.name);
    case Kind::number:
      return writer.add_number(signal.name, signal.width);
    case Kind::real:
      return writer.add_real(signal.name);
    case Kind::enumeration:
      return writer.add_enum(signal.name, *signal.table);
    case Kind::text:
      break;
  }
  return writer.add_text(signal.name);
}

bool Waves::wants(std::string_view name) {
  if (writer_ == nullptr) return false;
  const bool whole = glob_.matches(name);
  if (optional_scope_.empty() || name.substr(0, optional_scope_.size()) != optional_scope_) return whole;
  return glob_.matches(name.substr(optional_scope_.size())) || whole;
}

void Waves::begin() {
  if (writer_ == nullptr || begun_) return;
  begun_ = true;
  if (!view_path_.empty() && path_.empty()) write_gtkwave_view(*writer_, view_path_, "", sections_);
}

void Waves::close(Time end_time) {
  if (writer_ == nullptr) return;
  begin();
  settled()->close(end_time);
  thread_.reset();  // the writer ignores what comes now, and no clock is read any more
  if (path_.empty() || writer_->failure() || !writer_->is_of_this_process()) return;
  std::error_code error;
  std::filesystem::rename(writer_->options().path, path_, error);
  if (error) throw WriteError(writer_->options().path, "cannot be renamed: " + error.message());
  if (!view_path_.empty()) write_gtkwave_view(*writer_, view_path_, path_, sections_);
  path_.clear();
}

}  // namespace weft::vcd
