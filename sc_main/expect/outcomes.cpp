// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What became of the entries of `expect`, for people, as CSV and as JUnit XML.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sc_main/expect/checks.h"
#include "sc_main/json_text.h"
#include "sc_main/output_folder.h"
#include "sc_main/table.h"

namespace weft::cli {
namespace {

/// XML 1.0: its own characters escaped, and as '?' what it cannot have: control characters, and bytes that
/// are no UTF-8, which JSON replaces.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : nlohmann::json::parse(json_string(text)).get<std::string>()) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

}  // namespace

std::string checks_text(const std::vector<CheckOutcome>& outcomes) {
  Table table({"check", "rows", "figure", "bound", "result"});
  for (const CheckOutcome& o : outcomes)
    table.row({o.name, std::to_string(o.rows), o.figure.empty() ? "-" : o.figure, o.bound,
               o.met ? "pass" : "FAIL"});
  std::string text = table.str();
  const auto met =
      std::count_if(outcomes.begin(), outcomes.end(), [](const CheckOutcome& o) { return o.met; });
  text += fmt::format("checks   {} of {} met\n", met, outcomes.size());
  for (const CheckOutcome& o : outcomes)
    if (!o.met) text += fmt::format("  {}: {}: {}\n", o.origin, o.name, o.reason);
  return text;
}

std::string checks_csv(const std::vector<CheckOutcome>& outcomes) {
  std::string text = "name,rows,figure,row,bound,met,reason,origin\n";
  for (const CheckOutcome& o : outcomes)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(o.name), o.rows, csv_field(o.figure),
                        csv_field(o.row), csv_field(o.bound), o.met ? 1 : 0, csv_field(o.reason),
                        csv_field(o.origin));
  return text;
}

std::string checks_junit(const std::vector<CheckOutcome>& outcomes, const std::string& suite) {
  const auto failures =
      std::count_if(outcomes.begin(), outcomes.end(), [](const CheckOutcome& o) { return !o.met; });
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", outcomes.size(), failures);
  text += fmt::format("<testsuites {}>\n  <testsuite name=\"{}\" {} skipped=\"0\">\n", counts, xml(suite),
                      counts);
  for (const CheckOutcome& o : outcomes) {
    text += fmt::format("    <testcase name=\"{}\" classname=\"{}\"", xml(o.name), xml(suite));
    if (o.met) {
      text += fmt::format(">\n      <system-out>{} {}</system-out>\n    </testcase>\n", xml(o.figure),
                          xml(o.bound));
    } else {
      text += fmt::format(">\n      <failure message=\"{}\">{}: {}</failure>\n    </testcase>\n",
                          xml(o.reason), xml(o.origin), xml(o.reason));
    }
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace weft::cli
