// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/waves.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "vcd/gtkwave_view.h"

namespace weft::vcd {

Waves::Waves(WavesOptions options) : glob_(options.selection) {
  if (glob_.empty()) return;
  if (options.view)
    view_path_ = std::filesystem::path(options.writer.path).replace_extension(".gtkw").string();
  writer_ = std::make_unique<VcdWriter>(std::move(options.writer));
}

Waves::~Waves() {
  try {
    begin();
  } catch (const std::exception&) {
    // The view is a convenience; a destructor cannot report that it is missing.
  }
}

Probe Waves::bit(std::string_view name) {
  return selected(name) ? Probe(writer_.get(), writer_->add_bit(name)) : Probe();
}

Probe Waves::number(std::string_view name, unsigned width_bits) {
  return selected(name) ? Probe(writer_.get(), writer_->add_number(name, width_bits)) : Probe();
}

Probe Waves::real(std::string_view name) {
  return selected(name) ? Probe(writer_.get(), writer_->add_real(name)) : Probe();
}

Probe Waves::enumeration(std::string_view name, const EnumTable& table) {
  return selected(name) ? Probe(writer_.get(), writer_->add_enum(name, table)) : Probe();
}

Probe Waves::text(std::string_view name) {
  return selected(name) ? Probe(writer_.get(), writer_->add_text(name)) : Probe();
}

void Waves::begin() {
  if (writer_ == nullptr || begun_) return;
  begun_ = true;
  if (!view_path_.empty()) write_gtkwave_view(*writer_, view_path_);
}

void Waves::close(Time end_time) {
  if (writer_ == nullptr) return;
  begin();
  writer_->close(end_time);
}

}  // namespace weft::vcd
