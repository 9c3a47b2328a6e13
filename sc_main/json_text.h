// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_JSON_TEXT_H
#define WEFT_SC_MAIN_JSON_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::cli {

/// Writes JSON in the order of the calls, one member a line. Unlike a document object it takes numbers as
/// text, so that exact decimals stay exact.
class JsonText {
 public:
  /// A value stands in an array, or at the top; in an object it needs its key.
  JsonText& key(std::string_view name);
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  void number(std::string_view text);
  void number(uint64_t value);
  void number(double value);
  void text(std::string_view value);
  void boolean(bool value);
  void null() { number(std::string_view("null")); }

  /// The document, with a line break at its end.
  std::string str() const { return out_ + "\n"; }

 private:
  void begin(char bracket);
  void end(char bracket);
  void before_value();
  void new_line();

  std::string out_;
  int depth_ = 0;
  bool first_ = true;  ///< nothing in the innermost bracket yet
  bool after_key_ = false;
};

/// A JSON string with its quotes; bytes that are no UTF-8 are replaced.
std::string json_string(std::string_view value);

}  // namespace weft::cli

#endif
