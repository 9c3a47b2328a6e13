// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/nccl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

namespace weft::calibrate {
namespace {

/// The program of an operation, and whether its rows name a reduction and a root (a number from 0).
struct Program {
  const char* name;
  CollectiveOp op;
  bool reduces;
  bool rooted;
};
constexpr std::array<Program, 8> kPrograms = {{
    {"all_reduce", CollectiveOp::all_reduce, true, false},
    {"all_gather", CollectiveOp::all_gather, false, false},
    {"reduce_scatter", CollectiveOp::reduce_scatter, true, false},
    {"alltoall", CollectiveOp::all_to_all, false, false},
    {"broadcast", CollectiveOp::broadcast, false, true},
    {"reduce", CollectiveOp::reduce, true, true},
    {"gather", CollectiveOp::gather, false, true},
    {"scatter", CollectiveOp::scatter, false, true},
}};

/// Programs that measure no collective.
constexpr std::array<std::string_view, 3> kUnpredicted = {"sendrecv", "hypercube", "alltoallv"};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at])) != 0) ++at;
    size_t end = at;
    while (end < line.size() && std::isspace(static_cast<unsigned char>(line[end])) == 0) ++end;
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

bool is_whole(std::string_view word) {
  return !word.empty() && word.size() < 20 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

uint64_t whole(std::string_view word) {
  uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

/// Nothing for N/A.
std::optional<double> number(std::string_view word) {
  const std::string text(word);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(value)) return {};
  return value;
}

/// The line without what mpirun (`[1,0]<stdout>:`, with a date in front or not) and srun (`0: `) write in
/// front of it.
std::string_view without_label(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == line.npos) return line;
  for (const std::string_view stream : {"<stdout>:", "<stderr>:"})
    if (const size_t at = line.find(stream); at < 100) return line.substr(at + stream.size());
  const size_t colon = line.find(':', first);
  if (colon != line.npos && is_whole(line.substr(first, colon - first)) &&
      (colon + 1 == line.size() || line[colon + 1] == ' '))
    return line.substr(colon + 1);
  return line;
}

/// Words that a launcher or a collector of logs may write in front of a line: a date and a host have six.
constexpr size_t kLabelWords = 6;

/// Words in front of the first that begins with `#`; 0 if there is none within a label's reach.
size_t words_before_comment(const std::vector<std::string_view>& words) {
  for (size_t i = 0; i < words.size() && i <= kLabelWords; ++i)
    if (words[i][0] == '#') return i;
  return 0;
}

/// The first `count` words with one 0 for each number: labels differ in times and ranks from line to line.
std::string label_shape(const std::vector<std::string_view>& words, size_t count) {
  std::string shape;
  for (size_t i = 0; i < count; ++i) {
    for (const char c : words[i]) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit || shape.empty() || shape.back() != '0') shape += digit ? '0' : c;
    }
    shape += ' ';
  }
  return shape;
}

/// The word behind `what`; "" if that is not in the line.
std::string word_behind(std::string_view line, std::string_view what) {
  const size_t at = line.find(what);
  if (at == line.npos) return "";
  const auto words = words_of(line.substr(at + what.size()));
  return words.empty() ? std::string() : std::string(words[0]);
}

/// Where columns are in a row; of each pair the out-of-place one is first.
struct Columns {
  size_t count = 0;  ///< of a row; 0: no header line yet
  size_t bytes = 0;
  std::optional<size_t> type, redop, root;
  std::vector<size_t> time, algbw, busbw, wrong;
  bool counts_wrong = false;  ///< `#wrong`; else the largest error of an element
  bool milliseconds = false;
};

/// Nothing if the line is no header.
std::optional<Columns> columns_of(const std::vector<std::string_view>& words) {
  Columns columns;
  bool has_size = false, has_count = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t at = i - 1;  // without the `#`
    const std::string_view word = words[i];
    if (word == "size" || word == "bytes")
      has_size = true, columns.bytes = at;
    else if (word == "count" || word == "N")
      has_count = true;
    else if (word == "type")
      columns.type = at;
    else if (word == "redop" || word == "op")
      columns.redop = at;
    else if (word == "root")
      columns.root = at;
    else if (word == "time")
      columns.time.push_back(at);
    else if (word == "algbw")
      columns.algbw.push_back(at);
    else if (word == "busbw")
      columns.busbw.push_back(at);
    else if (word == "#wrong" || word == "error" || word == "res") {
      columns.wrong.push_back(at);
      columns.counts_wrong = word == "#wrong";
      columns.milliseconds = word == "res";  // the unit of version 1
    }
  }
  columns.count = words.empty() ? 0 : words.size() - 1;
  if (!has_size || !has_count || columns.time.empty() || columns.algbw.size() != columns.time.size() ||
      columns.busbw.size() != columns.time.size())
    return {};
  return columns;
}

/// A table while it is read.
struct Table {
  Measurement measured;
  std::string redop, root;
  uint32_t begin = 0;  ///< line of its first row
  uint32_t numbered = 0;
  uint64_t last_bytes = 0;
  double largest_bus = 0;  ///< algbw of the row with the largest bandwidth, and its busbw
  double largest_alg = 0;
  uint32_t disagreeing = 0;  ///< rows whose algbw is not size / time
  uint32_t disagreeing_line = 0;
  uint32_t other_column = 0;  ///< rows that had only the other column
  bool ended = false;         ///< by a line that stands below tables
};

class Log {
 public:
  Log(const std::string& path, const ReadOptions& options) : path_(path), options_(options) {}

  std::vector<Measurement> read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text = end == text.npos ? std::string_view() : text.substr(end + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_;
      last_line_ = text.empty();
      read_line(without_label(line));
    }
    close_table();
    if (tables_.empty()) fail_empty();
    std::vector<Measurement> measured;
    for (Table& table : tables_) measured.push_back(finish(table));
    return measured;
  }

 private:
  [[noreturn]] void fail(uint32_t line, const std::string& what) const {
    throw UserError(ExitCode::usage, line == 0 ? fmt::format("{}: {}", path_, what)
                                               : fmt::format("{}:{}: {}", path_, line, what));
  }

  [[noreturn]] void fail_empty() const {
    if (columns_.count == 0)
      fail(0,
           "the file holds no table of nccl-tests or rccl-tests (no header line `#  size  count  type ..`); "
           "name "
           "the output of all_reduce_perf or another program of theirs");
    fail(0, "the table has a header and no rows: the log is cut, or the program has failed; measure again");
  }

  void read_line(std::string_view line) {
    std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    note_program(line);
    note_version(line);
    const auto drop_words = [&words](size_t n) {
      words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(n));
    };
    const size_t label_words = words_before_comment(words);
    const std::string shape = label_shape(words, label_words);
    drop_words(label_words);
    // The rows of a table have the label of its header.
    if (words[0][0] != '#' && label_words_ > 0 && words.size() > label_words_ &&
        label_shape(words, label_words_) == label_shape_)
      drop_words(label_words_);
    if (words[0][0] == '#') {
      if (columns_of(words)) {
        label_words_ = label_words;
        label_shape_ = shape;
      }
      read_comment(line, words);
    } else if (is_whole(words[0]) && columns_.count != 0)
      read_row(words);
  }

  /// `all_reduce_perf`, in a command or the line "Collective test starting". Elsewhere, names of other
  /// programs and folders may end alike.
  void note_program(std::string_view line) {
    const size_t at = line.find("_perf");
    if (at == line.npos) return;
    size_t begin = at;
    while (begin > 0 &&
           (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_'))
      --begin;
    const std::string_view name = line.substr(begin, at - begin);
    const bool known =
        std::any_of(kPrograms.begin(), kPrograms.end(), [&](const Program& p) { return name == p.name; }) ||
        std::find(kUnpredicted.begin(), kUnpredicted.end(), name) != kUnpredicted.end();
    if (known || (!name.empty() && line.find("Collective test starting") != line.npos))
      program_ = std::string(name);
  }

  void note_version(std::string_view line) {
    for (const char* what : {"NCCL version ", "RCCL version ", "NCCL version : ", "RCCL version : "})
      if (std::string version = word_behind(line, what); !version.empty() && version != ":")
        version_ = version;
    if (std::string version = word_behind(line, "nccl-library="); !version.empty()) version_ = version;
  }

  void read_comment(std::string_view line, const std::vector<std::string_view>& words) {
    if (line.find("minBytes") != line.npos) {
      close_table();
      columns_ = {};
      has_parameters_ = true;
      most_bytes_ = number_behind(line, "maxBytes");
      const std::string step = word_behind(line, "step:");
      factor_ = step.find("(factor)") != step.npos ? whole(step.substr(0, step.find('('))) : 0;
      increment_ = step.find("(bytes)") != step.npos ? whole(step.substr(0, step.find('('))) : 0;
      ranks_ = 0;
      hosts_.clear();
    } else if (words.size() > 2 && words[1] == "Rank" && is_whole(words[2])) {
      ++ranks_;
      const auto on = std::find(words.begin(), words.end(), "on");
      if (on != words.end() && on + 1 != words.end()) hosts_.emplace(*(on + 1));
    } else if (line.find("Out of bounds") != line.npos || line.find("Avg bus bandwidth") != line.npos) {
      if (line.find("FAILED") != line.npos && in_table())
        table_.measured.remarks.push_back("the log says that values were out of bounds (FAILED)");
      // It ends every table of this run: types and operations follow each other.
      table_.ended = in_table() || table_.ended;
      for (size_t i = first_of_run_; i < tables_.size(); ++i) tables_[i].ended = true;
    } else if (const auto columns = columns_of(words)) {
      close_table();
      columns_ = *columns;
    } else if (line.find("(ms)") != line.npos && columns_.count != 0) {
      columns_.milliseconds = true;
    } else if (line.find("(us)") != line.npos && columns_.count != 0) {
      columns_.milliseconds = false;
    }
  }

  static uint64_t number_behind(std::string_view line, std::string_view what) {
    const std::string word = word_behind(line, what);
    return is_whole(word) ? whole(word) : 0;
  }

  bool in_table() const { return !table_.measured.rows.empty() || table_.numbered > 0; }

  void read_row(std::vector<std::string_view> words) {
    // Other programs print lines that begin with numbers, too.
    if (words.size() < 2 || !is_whole(words[1])) {
      if (words.size() == 1 && last_line_ && in_table()) fail_cut(line_);
      return;
    }
    // Rows without a reduction left that column empty in some versions.
    const std::optional<size_t> redop = columns_.redop;
    if (redop && words.size() + 1 == columns_.count && *redop < words.size() && number(words[*redop]))
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(*redop), std::string_view());
    if (words.size() != columns_.count) fail_row(words.size());
    read_values(words);
  }

  [[noreturn]] void fail_cut(uint32_t line) const {
    fail(line,
         "the log is cut: its table does not reach its last size; use the whole log, or --incomplete to take "
         "the "
         "rows that are there");
  }

  [[noreturn]] void fail_row(size_t have) const {
    fail(line_,
         fmt::format("the row has {} fields, and its header {}: the log is cut, or another line was written "
                     "into it; mend or remove the row",
                     have, columns_.count));
  }

  void read_values(const std::vector<std::string_view>& words) {
    const auto text = [&](const std::optional<size_t>& column) {
      return std::string(column ? words[*column] : std::string_view());
    };
    const std::string redop = text(columns_.redop), root = text(columns_.root), type = text(columns_.type);
    const uint64_t bytes = is_whole(words[columns_.bytes]) ? whole(words[columns_.bytes]) : 0;
    if (bytes == 0) return;  // no data, no bandwidth: the launch alone
    if (in_table() && (type != table_.measured.datatype || redop != table_.redop || root != table_.root))
      close_table();
    if (!in_table()) begin_table(type, redop, root);
    ++table_.numbered;
    table_.last_bytes = bytes;
    const size_t wanted = options_.column == Column::in_place ? 1 : 0;
    size_t at = std::min(wanted, columns_.time.size() - 1);
    const auto value = [&](const std::vector<size_t>& column, size_t i) {
      return i < column.size() ? number(words[column[i]]) : std::optional<double>();
    };
    if (!value(columns_.time, at) && columns_.time.size() > 1) at = 1 - at;
    table_.other_column += at != wanted ? 1 : 0;
    const std::optional<double> time = value(columns_.time, at);
    if (!time || !(*time > 0)) {
      drop(bytes, "it has no time");
      return;
    }
    for (size_t i = 0; columns_.counts_wrong && i < columns_.wrong.size(); ++i)
      if (value(columns_.wrong, i).value_or(0) > 0) {
        drop(bytes, fmt::format("{} elements were wrong", words[columns_.wrong[i]]));
        return;
      }
    const double us = *time * (columns_.milliseconds ? 1000 : 1);
    table_.measured.rows.push_back({bytes, us, table_.numbered});
    check_bandwidth(bytes, us, value(columns_.algbw, at), value(columns_.busbw, at));
  }

  void drop(uint64_t bytes, const std::string& why) {
    table_.measured.remarks.push_back(
        fmt::format("line {}: the row of {} bytes is dropped: {}", line_, bytes, why));
  }

  /// Both are printed with two decimals.
  void check_bandwidth(uint64_t bytes, double us, std::optional<double> algbw, std::optional<double> busbw) {
    if (!algbw) return;
    const double expected = static_cast<double>(bytes) / us / 1000;
    if (std::abs(expected - *algbw) > 0.02 + 0.02 * expected && table_.disagreeing++ == 0)
      table_.disagreeing_line = line_;
    if (busbw && *algbw > table_.largest_alg) {
      table_.largest_alg = *algbw;
      table_.largest_bus = *busbw;
    }
  }

  void begin_table(const std::string& type, const std::string& redop, const std::string& root) {
    table_ = {};
    table_.begin = line_;
    table_.redop = redop;
    table_.root = root;
    table_.measured.file = path_;
    table_.measured.datatype = type;
    table_.measured.program = program_;
    table_.measured.ranks = ranks_;
    table_.measured.nodes = static_cast<uint32_t>(hosts_.size());
  }

  void close_table() {
    if (!in_table()) return;
    table_.measured.version = version_;
    table_.ended = table_.ended || reaches_last_size();
    tables_.push_back(std::move(table_));
    table_ = {};
    // A log that is only a table, as documents quote it, does not say how far it goes.
    if (!has_parameters_) tables_.back().ended = true;
    if (has_parameters_ && tables_.back().ended) first_of_run_ = tables_.size();
  }

  bool reaches_last_size() const {
    if (most_bytes_ == 0) return false;
    uint64_t next = table_.last_bytes + std::max<uint64_t>(1, increment_);
    if (factor_ > 1) next = table_.last_bytes * factor_;
    return table_.last_bytes >= most_bytes_ || (next > most_bytes_ && (factor_ > 1 || increment_ > 0));
  }

  Measurement finish(Table& table) {
    Measurement& measured = table.measured;
    if (!table.ended && !options_.incomplete) fail_cut(table.begin);
    if (!table.ended) measured.remarks.push_back("the log is cut: only the rows that are there are used");
    if (table.disagreeing > 0)
      measured.remarks.push_back(
          fmt::format("line {}: algbw is not size / time in {} rows; the times are used",
                      table.disagreeing_line, table.disagreeing));
    if (table.other_column > 0)
      measured.remarks.push_back(
          fmt::format("{} rows have no {} time; the other one is used", table.other_column,
                      options_.column == Column::in_place ? "in-place" : "out-of-place"));
    measured.operation = operation_of(table);
    return std::move(measured);
  }

  CollectiveOp operation_of(Table& table) const {
    for (const Program& program : kPrograms)
      if (table.measured.program == program.name) table.measured.named = program.op;
    if (options_.operation) {
      if (!table.measured.program.empty() && table.measured.named != options_.operation)
        table.measured.remarks.push_back(
            fmt::format("line {}: the log is of {}_perf, and is read as {}, as --operation says", table.begin,
                        table.measured.program, to_string(*options_.operation)));
      return *options_.operation;
    }
    if (table.measured.named) return *table.measured.named;
    if (!table.measured.program.empty())
      fail(table.begin,
           fmt::format("{}_perf measures no collective that can be predicted; use a log of all_reduce, "
                       "all_gather, reduce_scatter, alltoall, broadcast or reduce",
                       table.measured.program));
    // Without its name: by the reduction, the root, and busbw / algbw.
    const bool reduces = !table.redop.empty() && table.redop != "none";
    const bool rooted = is_whole(table.root);
    const double factor = table.largest_alg > 0 ? table.largest_bus / table.largest_alg : 0;
    std::vector<CollectiveOp> fits;
    for (const Program& program : kPrograms)
      if (program.reduces == reduces && program.rooted == rooted &&
          factor_fits(program.op, table.measured.ranks, factor))
        fits.push_back(program.op);
    if (fits.size() != 1)
      fail(table.begin,
           fmt::format(
               "the log does not say which operation it measured{}; add --operation OP",
               fits.empty() ? "" : fmt::format(" ({} and {} fit)", to_string(fits[0]), to_string(fits[1]))));
    return fits[0];
  }

  /// True if the ratio cannot be told (0).
  static bool factor_fits(CollectiveOp op, uint32_t ranks, double factor) {
    if (factor == 0) return true;
    const double tolerance = 0.03 * factor;
    if (ranks > 0) return std::abs(bus_factor(op, ranks) - factor) < tolerance;
    if (op == CollectiveOp::all_reduce) return factor > 1 - tolerance;
    if (op == CollectiveOp::broadcast || op == CollectiveOp::reduce) return std::abs(factor - 1) < tolerance;
    return factor < 1;
  }

  const std::string& path_;
  const ReadOptions& options_;
  uint32_t line_ = 0;
  bool last_line_ = false;
  std::string program_, version_;
  bool has_parameters_ = false;  ///< the line with minBytes
  uint64_t most_bytes_ = 0, factor_ = 0, increment_ = 0;
  uint32_t ranks_ = 0;
  std::set<std::string> hosts_;
  Columns columns_;
  size_t label_words_ = 0;   ///< in front of the header's `#`
  std::string label_shape_;  ///< of these words
  Table table_;
  std::vector<Table> tables_;
  size_t first_of_run_ = 0;
};

}  // namespace

std::vector<Measurement> parse_nccl_log(const std::string& text, const std::string& path,
                                        const ReadOptions& options) {
  return Log(path, options).read(text);
}

}  // namespace weft::calibrate
