// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A CSV file of results (RFC 4180): columns by name, fields as they are written.

#ifndef WEFT_SC_MAIN_REPORT_CSV_TABLE_H
#define WEFT_SC_MAIN_REPORT_CSV_TABLE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::report {

/// A table whose first line names its columns. Every error is a UserError(usage) that names the file, and the
/// line and the column where there are any.
class CsvTable {
 public:
  /// `path` is for messages. Throws for a text that is cut off: the last line does not end, a quote is not
  /// closed, a row has fewer fields than the header.
  CsvTable(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::vector<std::string>& columns() const { return columns_; }
  size_t rows() const { return lines_.size(); }
  /// Where the row begins in the file; the header is line 1.
  uint32_t line(size_t row) const { return lines_[row]; }

  std::optional<size_t> find(std::string_view name) const;
  /// Throws if no column has that name.
  size_t column(std::string_view name) const;

  std::string_view text(size_t row, size_t column) const;
  /// Throws if the field is no number.
  double number(size_t row, size_t column) const;
  /// Nothing for an empty field.
  std::optional<double> number_if_any(size_t row, size_t column) const;
  /// Throws if the field is no whole number of at most 64 bits.
  uint64_t whole(size_t row, size_t column) const;

 private:
  struct Field {
    size_t begin;
    size_t size;
  };

  void parse();
  [[noreturn]] void fail(uint32_t line, const std::string& what) const;
  [[noreturn]] void fail_number(size_t row, size_t column, const char* what) const;

  std::string path_;
  std::string text_;  ///< quotes are undone in place
  std::vector<std::string> columns_;
  std::vector<Field> fields_;  ///< row by row
  std::vector<uint32_t> lines_;
};

}  // namespace weft::report

#endif
