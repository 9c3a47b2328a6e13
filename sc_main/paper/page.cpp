// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/paper/page.h"

#include <fmt/format.h>

#include <sstream>

#include "sc_main/table.h"

namespace weft::paper {
namespace {

const char* state(const Verdict& verdict) {
  if (!verdict.checked()) return "shown";
  return verdict.holds ? "holds" : "MISSED";
}

/// Words in lines of at most 118 characters; those behind the first begin with `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
  constexpr size_t kMost = 118;
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kMost) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return out + line + "\n";
}

std::string list(const char* title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = fmt::format("- {}:", title);
  for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? " " : "; ") + items[i];
  return wrapped(out, "  ");
}

/// Markdown takes | for the border of a cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c == '\n' ? ' ' : c);
  return out;
}

}  // namespace

std::string picture_name(const Figure& figure, size_t plot) {
  return plot == 0 ? figure.id + ".svg" : fmt::format("{}_{}.svg", figure.id, plot + 1);
}

std::string text_of(const Result& result) {
  std::string out = fmt::format("{}: {}: {}\n", result.figure.id, result.figure.paper, result.figure.title);
  for (const std::string& error : result.outcome.errors) out += "  error: " + error + "\n";
  cli::Table table({"expectation", "status", "measured", "wanted", ""});
  for (const Verdict& v : result.outcome.verdicts)
    table.row({v.name, to_string(v.status), v.measured, v.wanted, state(v)});
  if (!result.outcome.verdicts.empty()) out += table.str(0);
  for (const auto& [name, value] : result.outcome.derived) out += fmt::format("  {} = {}\n", name, value);
  return out;
}

std::string page_of(const std::vector<Result>& results, const std::string& pictures) {
  std::string out =
      "# The papers' figures\n\n"
      "`weft paper all` runs what the figures and tables of the ASTRA-sim papers need, writes a CSV file and "
      "a\n"
      "drawing for each, and this page. `weft paper all --check` fails where a given value or a claim does "
      "not\n"
      "hold. The drawings show Weft's own values only: the papers' points are in no text. Nothing is "
      "cached:\n"
      "every run is made anew, for all figures in 86 s on two cores (`--jobs 2`, 158 s of processor "
      "time).\n\n"
      "- **given**: the paper has the number; checked within the tolerance.\n"
      "- **claim**: the paper has the relation in words; checked.\n"
      "- **fit**: the value depends on inputs that the paper does not give and that were chosen here; "
      "shown.\n"
      "- **unknown**: the paper's own value is not published; shown.\n";
  for (const Result& r : results) {
    out += fmt::format("\n## {}: {}\n\n", r.figure.paper, r.figure.title);
    if (!r.figure.about.empty()) out += wrapped(r.figure.about, "") + "\n";
    out += fmt::format("`weft paper {}`; {} runs.\n\n", r.figure.id, r.points.size());
    const std::string lists = list("Given", r.figure.given) + list("Fitted or chosen here", r.figure.fitted) +
                              list("Unknown", r.figure.unknown);
    if (!lists.empty()) out += lists + "\n";
    for (size_t p = 0; p < r.figure.plots.size(); ++p)
      out += fmt::format("![{}]({}{})\n\n", r.figure.title, pictures, picture_name(r.figure, p));
    if (!r.outcome.verdicts.empty()) {
      out += "| expectation | status | measured | wanted | |\n|---|---|---|---|---|\n";
      for (const Verdict& v : r.outcome.verdicts)
        out += fmt::format("| {}{} | {} | {} | {} | {} |\n", cell(v.name),
                           v.note.empty() ? "" : " (" + cell(v.note) + ")", to_string(v.status),
                           cell(v.measured), cell(v.wanted), state(v));
    }
    for (const std::string& error : r.outcome.errors) out += fmt::format("\nError: {}\n", error);
  }
  return out;
}

}  // namespace weft::paper
