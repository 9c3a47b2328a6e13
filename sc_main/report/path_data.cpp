// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/path_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "configs/input_file.h"
#include "configs/types.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

const InputKind kPathInput{"critical path", ExitCode::usage, "name a folder that `weft run` has written",
                           uint64_t{1} << 30};
constexpr int kReadPathVersion = 1;
constexpr int kDeepest = 8;  ///< lists within lists

void cut(Json& value, const std::string& place, size_t most_rows, Json& left_out, int depth) {
  if (depth > kDeepest) {
    value = nullptr;
    return;
  }
  if (value.is_array() && value.size() > most_rows) {
    left_out[place] = value.size();
    value.erase(value.begin() + static_cast<std::ptrdiff_t>(most_rows), value.end());
  }
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      cut(value[i], fmt::format("{}/{}", place, i), most_rows, left_out, depth + 1);
  if (value.is_object())
    for (auto& [key, member] : value.items()) cut(member, place + "/" + key, most_rows, left_out, depth + 1);
}

}  // namespace

Json path_summary(const std::string& file, size_t most_rows) {
  Json path = Json::parse(read_input(file, kPathInput), nullptr, false);
  const auto fail = [&](const char* what) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}; copy the folder again, or run again", file, what));
  };
  if (path.is_discarded()) fail("is cut off, or not the JSON that `weft run` writes");
  if (!path.is_object() || !path.contains("weft_critical_path")) fail("has no key `weft_critical_path`");
  if (path["weft_critical_path"] != kReadPathVersion)
    fail("has another version of its format than this program reads");
  Json left_out = Json::object();
  cut(path, "", most_rows, left_out, 0);
  path["left_out"] = std::move(left_out);
  return path;
}

Json path_pieces(const CsvTable& table, size_t most_rows) {
  const size_t time = table.column("time_ps");
  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  if (rows.size() > most_rows) {
    std::vector<double> times(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) times[i] = table.number(i, time);
    std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return times[a] > times[b]; });
    rows.resize(most_rows);
    std::sort(rows.begin(), rows.end());
  }
  Json pieces;
  pieces["of"] = table.rows();
  for (const char* const name : {"path", "from_ps", "to_ps"}) {
    std::vector<double> values;
    for (const size_t row : rows) values.push_back(table.number(row, table.column(name)));
    pieces[name] = std::move(values);
  }
  for (const char* const name : {"term", "place", "collective", "rank", "node", "name", "layer"}) {
    std::vector<std::string> values;
    for (const size_t row : rows) values.emplace_back(table.text(row, table.column(name)));
    pieces[name] = std::move(values);
  }
  return pieces;
}

}  // namespace weft::report
