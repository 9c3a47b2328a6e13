// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/measured_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace weft::calibrate {
namespace {

using Json = nlohmann::ordered_json;

class Reader {
 public:
  Reader(const std::string& path, const ReadOptions& options) : path_(path), options_(options) {}

  std::vector<Measurement> read(const Json& file) {
    file_ = &file;
    if (!file.is_object()) fail("is no JSON object");
    if (file.contains("rows")) return {one_table(file)};
    std::vector<Measurement> tables;
    for (int i = 0; i < kCollectiveOps; ++i) {
      const auto op = static_cast<CollectiveOp>(i);
      const std::string key = std::string(to_string(op)) + "_us";
      if (!file.contains(key)) continue;
      if (options_.operation && *options_.operation != op) continue;
      Measurement table = head();
      table.operation = table.named = op;
      add_rows(table, file[key], key, 0, 1);
      tables.push_back(std::move(table));
    }
    if (tables.empty())
      fail(options_.operation ? fmt::format("has no table `{}_us`", to_string(*options_.operation))
                              : "has neither `rows` nor a table of an operation (`all_reduce_us`)");
    return tables;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the file {}; docs/calibration.md shows what tables of measured times look "
                    "like",
                    path_, what));
  }

  uint32_t count(const char* key) const {
    if (!file_->contains(key)) return 0;
    const Json& value = (*file_)[key];
    if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 || value.get<uint64_t>() > UINT32_MAX)
      fail(fmt::format("has `{}`: {}; a whole number from 1 is allowed", key, value.dump()));
    return value.get<uint32_t>();
  }

  std::string text(const char* key) const {
    const auto found = file_->find(key);
    return found != file_->end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  Measurement head() const {
    Measurement table;
    table.file = path_;
    table.ranks = count("ranks");
    table.nodes = count("nodes");
    table.version = text("library");
    return table;
  }

  Measurement one_table(const Json& file) const {
    Measurement table = head();
    const std::string name = text("operation");
    for (int i = 0; i < kCollectiveOps; ++i)
      if (name == to_string(static_cast<CollectiveOp>(i))) table.named = static_cast<CollectiveOp>(i);
    if (!name.empty() && !table.named) fail(fmt::format("has `operation`: \"{}\", which is none", name));
    table.operation = options_.operation ? options_.operation : table.named;
    if (table.named && table.named != table.operation)
      table.remarks.push_back(
          fmt::format("the file has `operation`: \"{}\", and is read as {}, as "
                      "--operation says",
                      name, to_string(*table.operation)));
    if (!table.operation) fail("does not name its `operation`; add it, or give --operation");
    size_t bytes = 0, time = 1;
    if (file.contains("columns")) {
      const auto column = [&](const char* wanted) {
        size_t at = 0;
        for (const Json& entry : file["columns"]) {
          if (entry == wanted) return at;
          ++at;
        }
        fail(fmt::format("has no column `{}` in `columns`", wanted));
      };
      if (!file["columns"].is_array()) fail("has `columns` that are no list");
      bytes = column("bytes");
      time = column("time_us");
    }
    add_rows(table, file["rows"], "rows", bytes, time);
    return table;
  }

  void add_rows(Measurement& table, const Json& rows, const std::string& key, size_t bytes,
                size_t time) const {
    if (!rows.is_array() || rows.empty()) fail(fmt::format("has no rows in `{}`", key));
    for (const Json& entry : rows) {
      const auto number = static_cast<uint32_t>(table.rows.size() + 1);
      if (!entry.is_array() || entry.size() <= std::max(bytes, time) || !entry[bytes].is_number_unsigned() ||
          entry[bytes] == 0 || !entry[time].is_number())
        fail(fmt::format("has a row {} of `{}` that is not [bytes, microseconds]: {}", number, key,
                         entry.dump()));
      const double us = entry[time].get<double>();
      if (!(us > 0) || !std::isfinite(us))
        fail(fmt::format("has a time in row {} of `{}` that is not above 0: {}", number, key, entry.dump()));
      table.rows.push_back({entry[bytes].get<uint64_t>(), us, number});
    }
  }

  const std::string& path_;
  const ReadOptions& options_;
  const Json* file_ = nullptr;
};

}  // namespace

std::vector<Measurement> parse_measured_json(const std::string& text, const std::string& path,
                                             const ReadOptions& options) {
  Json file;
  try {
    file = Json::parse(text);
  } catch (const Json::exception& e) {
    throw UserError(ExitCode::usage,
                    fmt::format("{}: the file is no JSON, or is cut: {}; write it again", path, e.what()));
  }
  return Reader(path, options).read(file);
}

}  // namespace weft::calibrate
