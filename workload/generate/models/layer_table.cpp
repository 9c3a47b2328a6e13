// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Tables of layers and of their cycles, as comma-separated values.

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "workload/generate/models/model_sizes.h"

namespace weft::generate {
namespace {

struct Row {
  size_t line = 0;
  std::vector<std::string> cells;
};

class Table {
 public:
  explicit Table(const std::string& path) : path_(path) {
    std::ifstream file(path);
    if (!file) fail(0, "cannot be read; check the path");
    std::string line;
    for (size_t number = 1; std::getline(file, line); ++number) {
      Row row{number, {}};
      std::stringstream text(line);
      for (std::string cell; std::getline(text, cell, ',');) row.cells.push_back(trimmed(cell));
      while (!row.cells.empty() && row.cells.back().empty()) row.cells.pop_back();
      if (!row.cells.empty()) rows_.push_back(std::move(row));
    }
    // A first line without any number behind the name is a header.
    if (!rows_.empty() && (rows_[0].cells.size() < 2 || !is_number(rows_[0].cells[1]))) {
      header_ = rows_[0].cells;
      rows_.erase(rows_.begin());
    }
    if (rows_.empty()) fail(0, "has no layers; give one line for each");
  }

  const std::vector<std::string>& header() const { return header_; }
  const std::vector<Row>& rows() const { return rows_; }

  [[noreturn]] void fail(size_t line, const std::string& why) const {
    throw UserError(ExitCode::usage, line == 0 ? fmt::format("{}: {}", path_, why)
                                               : fmt::format("{}:{}: {}", path_, line, why));
  }

  uint64_t number(const Row& row, size_t column, const char* name, uint64_t least = 1) const {
    if (column >= row.cells.size()) fail(row.line, fmt::format("has no column {} (`{}`)", column + 1, name));
    std::string cell = row.cells[column];
    // Some tools write whole numbers as 112283.0.
    if (const size_t dot = cell.find('.');
        dot != cell.npos && cell.find_first_not_of('0', dot + 1) == cell.npos)
      cell.erase(dot);
    constexpr uint64_t kMost = uint64_t{1} << 40;
    uint64_t value = 0;
    bool good = is_number(cell);
    for (const char c : cell) {
      if (!good || value > kMost) break;
      value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    good = good && value >= least && value <= kMost;
    if (!good)
      fail(row.line, fmt::format("column {} (`{}`) is '{}'; give a whole number from {} to {}", column + 1,
                                 name, cell, least, kMost));
    return value;
  }

  static std::string lowered(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }

 private:
  static std::string trimmed(const std::string& cell) {
    const char* blanks = " \t\r\n";
    const size_t first = cell.find_first_not_of(blanks);
    return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(blanks) - first + 1);
  }
  static bool is_number(const std::string& cell) {
    return !cell.empty() &&
           std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  std::string path_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

text::Parallelism parallelism_of(const Table& table, const Row& row) {
  static const std::map<std::string, text::Parallelism> words = {
      {"DATA", text::Parallelism::data},
      {"MODEL", text::Parallelism::model},
      {"HYBRID_DATA_MODEL", text::Parallelism::hybrid_data_model},
      {"HYBRID_MODEL_DATA", text::Parallelism::hybrid_model_data}};
  const auto found = words.find(row.cells[4]);
  if (found == words.end())
    table.fail(row.line,
               fmt::format("column 5 (`parallelism`) is '{}'; one of DATA, MODEL, HYBRID_DATA_MODEL, "
                           "HYBRID_MODEL_DATA",
                           row.cells[4]));
  return found->second;
}

text::Parallelism parallelism_of(text::Loop loop) {
  switch (loop) {
    case text::Loop::model:
      return text::Parallelism::model;
    case text::Loop::hybrid_data_model:
      return text::Parallelism::hybrid_data_model;
    case text::Loop::hybrid_model_data:
      return text::Parallelism::hybrid_model_data;
    default:
      return text::Parallelism::data;
  }
}

/// The sizes of the script of ASTRA-sim 1.0.
void communicate(ModelLayer& layer, const compute::Gemm& g, const TableSplit& split,
                 text::Parallelism parallelism) {
  const uint64_t d = split.element_bytes;
  const uint64_t each = split.npus / split.packages;  // NPUs of a package
  const uint64_t out = model_product({g.m, g.n, d});
  const uint64_t in = model_product({g.m, g.k, d});
  const uint64_t weights = model_product({g.n, g.k, d});
  auto& f = layer.after(text::Pass::forward);
  auto& i = layer.after(text::Pass::input_gradient);
  auto& w = layer.after(text::Pass::weight_gradient);
  f = i = w = {};
  switch (parallelism) {
    case text::Parallelism::data:
      w = {CollectiveOp::all_reduce, weights};
      return;
    case text::Parallelism::model:
      i = {CollectiveOp::reduce_scatter, in};
      break;
    case text::Parallelism::hybrid_data_model:
      i = {CollectiveOp::reduce_scatter, in / split.packages};
      w = {CollectiveOp::all_reduce, weights / each};
      break;
    case text::Parallelism::hybrid_model_data:
      i = {CollectiveOp::reduce_scatter, in / each};
      w = {CollectiveOp::all_reduce, weights / split.packages};
      break;
  }
  f = {CollectiveOp::all_gather, out / split.npus};
}

compute::Gemm convolution_of(const Table& table, const Row& row, uint64_t batch) {
  compute::Convolution c;
  c.input_height = table.number(row, 1, "ifmap height");
  c.input_width = table.number(row, 2, "ifmap width");
  c.filter_height = table.number(row, 3, "filter height");
  c.filter_width = table.number(row, 4, "filter width");
  c.channels = table.number(row, 5, "channels");
  c.filters = table.number(row, 6, "filters");
  c.stride = table.number(row, 7, "stride");
  if (c.filter_height > c.input_height || c.filter_width > c.input_width)
    table.fail(row.line, "the filter is larger than the ifmap; give the ifmap with its padding");
  return compute::gemm_of(c, batch);
}

std::string without_blanks(std::string name) {
  for (char& c : name)
    if (std::isspace(static_cast<unsigned char>(c)) != 0) c = '_';
  return name.empty() ? "layer" : name;
}

}  // namespace

Model read_layer_table(const std::string& path, const TableSplit& split) {
  if (split.packages == 0 || split.npus % split.packages != 0)
    throw UserError(ExitCode::usage, fmt::format("--packages is {}, but the {} NPUs are no multiple of it",
                                                 split.packages, split.npus));
  const Table table(path);
  Model model;
  model.name = "layers";
  model.batch = split.batch;
  model.element_bytes = split.element_bytes;
  model.loop = split.loop;
  bool own = false;
  for (const Row& row : table.rows()) {
    const size_t columns = row.cells.size();
    if (columns != 4 && columns != 5 && columns != 8)
      table.fail(
          row.line,
          fmt::format("has {} columns; write `layer, m, n, k [, parallelism]`, or SCALE-sim's 8 columns "
                      "(layer, ifmap height and width, filter height and width, channels, filters, "
                      "stride)",
                      columns));
    compute::Gemm g;
    if (columns == 8)
      g = convolution_of(table, row, split.batch);
    else
      g = {table.number(row, 1, "m"), table.number(row, 3, "k"), table.number(row, 2, "n")};
    ModelLayer layer = dense_layer(without_blanks(row.cells[0]), g.m, g.k, g.n, split.element_bytes);
    text::Parallelism parallelism = parallelism_of(split.loop);
    if (columns == 5) {
      parallelism = parallelism_of(table, row);
      own = true;
    }
    layer.parallelism = parallelism;
    communicate(layer, g, split, parallelism);
    model.layers.push_back(std::move(layer));
  }
  if (own) model.loop = text::Loop::hybrid_customized;
  return model;
}

void read_cycle_table(const std::string& path, Model& model) {
  const Table table(path);
  size_t forward = 1;
  uint64_t more = 0;  // SCALE-sim prints the number of the last cycle
  std::array<size_t, text::kPasses> column{1, 0, 0};
  for (size_t c = 0; c < table.header().size(); ++c) {
    const std::string name = Table::lowered(table.header()[c]);
    if (name.find("total cycles") != std::string::npos) {
      column[0] = forward = c;
      more = 1;
    }
    for (int p = 0; p < text::kPasses; ++p)
      if (name == text::to_string(static_cast<text::Pass>(p))) column[static_cast<size_t>(p)] = c;
  }
  std::map<std::string, ModelLayer*> by_name;
  for (ModelLayer& layer : model.layers) by_name[layer.name] = &layer;
  const bool named = by_name.count(without_blanks(table.rows()[0].cells[0])) != 0;
  if (!named && table.rows().size() != model.layers.size())
    table.fail(
        0, fmt::format("has {} lines, and the network {} layers; name the layers, or give a line for each",
                       table.rows().size(), model.layers.size()));
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const Row& row = table.rows()[i];
    ModelLayer* layer = named ? nullptr : &model.layers[i];
    if (named) {
      const auto found = by_name.find(without_blanks(row.cells[0]));
      if (found == by_name.end())
        table.fail(row.line, fmt::format("the network has no layer '{}'", row.cells[0]));
      layer = found->second;
    }
    for (int p = 0; p < text::kPasses; ++p) {
      const size_t at = column[static_cast<size_t>(p)];
      if (at == 0) continue;
      const auto pass = static_cast<text::Pass>(p);
      layer->of(pass).fixed_cycles =
          table.number(row, at, text::to_string(pass), 0) + (at == forward ? more : 0);
    }
  }
}

}  // namespace weft::generate
