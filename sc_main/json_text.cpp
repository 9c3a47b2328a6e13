// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/json_text.h"

#include <nlohmann/json.hpp>

#include "sc_main/decimal.h"

namespace weft::cli {

std::string json_string(std::string_view value) {
  return nlohmann::json(std::string(value)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void JsonText::new_line() {
  out_ += '\n';
  out_.append(static_cast<size_t>(depth_) * 2, ' ');
}

void JsonText::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) out_ += ',';
  new_line();
  first_ = false;
}

JsonText& JsonText::key(std::string_view name) {
  before_value();
  out_ += json_string(name) + ": ";
  after_key_ = true;
  return *this;
}

void JsonText::begin(char bracket) {
  before_value();
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonText::end(char bracket) {
  --depth_;
  if (!first_) new_line();
  out_ += bracket;
  first_ = false;
}

void JsonText::number(std::string_view value) {
  before_value();
  out_ += value;
}

void JsonText::number(uint64_t value) {
  number(std::string_view(std::to_string(value)));
}

void JsonText::number(double value) {
  number(std::string_view(json_number(value)));
}

void JsonText::text(std::string_view value) {
  before_value();
  out_ += json_string(value);
}

void JsonText::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
}

}  // namespace weft::cli
