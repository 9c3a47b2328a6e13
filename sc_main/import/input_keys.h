// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// ASTRA-sim's input files as keys with values: JSON, YAML, and lines of `key: value` or `key value`.

#ifndef WEFT_SC_MAIN_IMPORT_INPUT_KEYS_H
#define WEFT_SC_MAIN_IMPORT_INPUT_KEYS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "sc_main/import/imported.h"

namespace weft::cli::import {

struct InputKey {
  std::string name;
  std::string where;                ///< "file:line"
  std::vector<std::string> values;  ///< of a list its entries; of a mapping nothing
  bool list = false;
  bool used = false;

  std::string text() const;  ///< the value in one line
};

/// The keys of one file, in its order. Every key is to be looked up; those that nobody looked up are
/// reported.
class InputKeys {
 public:
  enum class Form : uint8_t { document, colon_lines, blank_lines };

  /// Reads JSON or YAML, or lines: told apart by the content. Throws UserError(usage) for a file that is
  /// neither, and a key that is there twice.
  InputKeys(const std::string& path, Imported& imported);

  Form form() const { return form_; }
  const std::string& path() const { return path_; }
  const std::vector<InputKey>& keys() const { return keys_; }
  bool has(const std::string& name) const;

  /// Marks the key as looked up. Null: it is not there.
  const InputKey* take(const std::string& name);
  /// The same with a row of the report.
  const InputKey* take(const std::string& name, const std::string& weft, Verdict verdict,
                       const std::string& why = "");
  /// The same of a key that nobody has looked up.
  void take_if_unused(const std::string& name, const std::string& weft, Verdict verdict,
                      const std::string& why);
  /// A row for a key that take() gave.
  void tell(const InputKey& key, const std::string& weft, Verdict verdict, const std::string& why = "");
  /// Rows for all keys that nobody looked up.
  void tell_unknown();

  /// One number >= 0. Throws UserError(usage) with file, line and key.
  double number(const InputKey& key, size_t i = 0) const;
  uint64_t whole(const InputKey& key, size_t i = 0) const;
  [[noreturn]] void fail(const InputKey& key, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void read_lines(const std::string& text);
  void read_document_keys(const std::string& text);

  std::string path_;
  Imported& imported_;
  Form form_ = Form::document;
  std::vector<InputKey> keys_;
};

}  // namespace weft::cli::import

#endif
