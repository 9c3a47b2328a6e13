// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/result_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "configs/input_file.h"
#include "configs/types.h"

namespace weft::report {
namespace {

namespace fs = std::filesystem;
using Json = ResultFolder::Json;

const InputKind kResultsInput{"results", ExitCode::usage,
                              "name the folder that `weft run --out DIR` has written", uint64_t{2} << 30};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("{}: {}", path, what));
}

/// Of nlohmann's message what a user understands: "line 3, column 1".
std::string place_of(const std::string& message) {
  const size_t at = message.find(" at line ");
  const size_t colon = at == std::string::npos ? at : message.find(':', at);
  return colon == std::string::npos ? "" : message.substr(at + 4, colon - at - 4);
}

Json parse_summary(const std::string& path, const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    const std::string message = e.what();
    const bool cut = message.find("unexpected end of input") != std::string::npos ||
                     message.find("missing closing quote") != std::string::npos;
    const std::string place = place_of(message);
    fail(path, fmt::format("{}{}; copy the folder again, or run again",
                           cut ? "is cut off" : "is not the JSON that `weft run` writes",
                           place.empty() ? "" : fmt::format(" ({})", place)));
  }
}

}  // namespace

ResultFolder::ResultFolder(std::string path, Unfinished unfinished) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  check_folder();
  summary_text_ = read_input(file("summary.json"), kResultsInput);
  summary_ = parse_summary(file("summary.json"), summary_text_);
  check_summary();
  finished_ = summary_["finished"].get<bool>();
  if (!finished_ && unfinished == Unfinished::refused)
    fail(
        file("summary.json"),
        "says `\"finished\": false`: the run was interrupted or stalled, so its figures are not those of the "
        "whole job; run it to its end");
}

void ResultFolder::check_folder() const {
  if (path_.empty())
    throw UserError(ExitCode::usage, "a folder's name is empty; " + std::string(kResultsInput.remedy));
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (status.type() == fs::file_type::not_found)
    fail(path_, fmt::format("no such folder; {}", kResultsInput.remedy));
  if (status.type() == fs::file_type::none)
    fail(path_, fmt::format("the folder cannot be looked at: {}; check the path and its permissions",
                            error.message()));
  if (status.type() != fs::file_type::directory)
    fail(path_, fmt::format("is a file, not a folder of results; {}", kResultsInput.remedy));
  if (input_exists(file("summary.json"))) return;
  if (has("summary.json.part") || has("effective.yaml"))
    fail(path_,
         "has no summary.json yet: the run goes on, or was killed before its end; wait for it, or run again");
  if (has("journal") && has("points"))
    fail(path_, "is the folder of a sweep, not of a run; name the folder of one of its points, in `points`");
  if (has("collectives.csv"))
    fail(path_,
         "has no summary.json, so it is not of `weft run`: `weft collective --out` writes only tables; make "
         "the "
         "collective a job of `weft run`");
  fail(path_, fmt::format("is not a folder of results: it has no summary.json; {}", kResultsInput.remedy));
}

void ResultFolder::check_summary() const {
  const std::string where = file("summary.json");
  if (!summary_.is_object() || !summary_.contains("weft_summary"))
    fail(where, fmt::format("is not a summary of `weft run`: it has no key `weft_summary`; {}",
                            kResultsInput.remedy));
  const Json& version = summary_["weft_summary"];
  if (!version.is_number_integer() || version.get<int64_t>() != kReadSummaryVersion) {
    const Json* const program = find("/weft");
    fail(where,
         fmt::format("has version {} of the summary's format{}, but this program reads version {}; run "
                     "again with this version of Weft",
                     version.is_number() ? version.dump() : "that is no number",
                     program != nullptr && program->is_string()
                         ? fmt::format(" (written by Weft {})", program->get<std::string>())
                         : "",
                     kReadSummaryVersion));
  }
  const auto need = [&](const char* key, bool ok, const char* what) {
    if (!ok)
      fail(where,
           fmt::format("key `{}` is missing or not {}; run again with this version of Weft", key, what));
  };
  const Json* const finished = find("/finished");
  need("finished", finished != nullptr && finished->is_boolean(), "true or false");
  const Json* const time = find("/time_ns");
  need("time_ns", time != nullptr && time->is_number(), "a number");
}

std::string ResultFolder::name() const {
  const fs::path path = fs::path(path_).lexically_normal();
  const std::string last = path.filename().string();
  if (!last.empty() && last != "." && last != "..") return last;
  std::error_code error;
  const fs::path whole = fs::canonical(path_, error);
  return error || whole.filename().empty() ? path_ : whole.filename().string();
}

std::string ResultFolder::file(std::string_view name) const {
  return (fs::path(path_) / name).string();
}

bool ResultFolder::has(std::string_view name) const {
  return input_exists(file(name));
}

const Json* ResultFolder::find(const std::string& pointer) const {
  const Json::json_pointer at(pointer);
  return summary_.contains(at) ? &summary_.at(at) : nullptr;
}

std::optional<double> ResultFolder::number(const std::string& pointer) const {
  const Json* const value = find(pointer);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_number())
    fail(file("summary.json"), fmt::format("key `{}` is not a number; run again", pointer.substr(1)));
  return value->get<double>();
}

std::string ResultFolder::text(const std::string& pointer) const {
  const Json* const value = find(pointer);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_string())
    fail(file("summary.json"), fmt::format("key `{}` is not a text; run again", pointer.substr(1)));
  return value->get<std::string>();
}

std::vector<std::string> ResultFolder::jobs() const {
  std::vector<std::string> names;
  if (!of_several_jobs()) return names;
  const auto wrong = [&] {
    fail(file("summary.json"), "key `jobs` is not a list of jobs with names; run again");
  };
  if (!find("/jobs")->is_array()) wrong();
  for (size_t i = 0; i < find("/jobs")->size(); ++i) {
    names.push_back(text(fmt::format("/jobs/{}/name", i)));
    if (names.back().empty() || names.back().find('/') != std::string::npos || names.back() == "..") wrong();
  }
  return names;
}

std::optional<size_t> ResultFolder::promised_rows(std::string_view name) const {
  const auto count_of = [](const Json& value) -> std::optional<size_t> {
    if (!value.is_number_unsigned()) return std::nullopt;
    return value.get<size_t>();
  };
  if (name == "links.csv") {
    const Json* const count = find("/links/count");
    return count == nullptr ? std::nullopt : count_of(*count);
  }
  if (name == "collectives.csv") {
    const Json* const operations = find("/collectives");
    if (operations == nullptr || !operations->is_object()) return std::nullopt;
    size_t sum = 0;
    for (const Json& operation : *operations) {
      if (!operation.is_object() || !operation.contains("count")) return std::nullopt;
      const std::optional<size_t> count = count_of(operation["count"]);
      if (!count) return std::nullopt;
      sum += *count;
    }
    return sum;
  }
  return std::nullopt;
}

std::optional<CsvTable> ResultFolder::table(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return need_table(name);
}

CsvTable ResultFolder::need_table(std::string_view name) const {
  CsvTable table(file(name), read_input(file(name), kResultsInput));
  const std::optional<size_t> promised = promised_rows(name);
  if (finished_ && promised && *promised != table.rows())
    fail(table.path(),
         fmt::format("has {} rows, but summary.json tells of {}: it is cut off, or of another run; "
                     "copy the folder again, or run again",
                     table.rows(), *promised));
  return table;
}

std::string ResultFolder::effective_yaml() const {
  return has("effective.yaml") ? read_input(file("effective.yaml"), kResultsInput) : std::string();
}

}  // namespace weft::report
