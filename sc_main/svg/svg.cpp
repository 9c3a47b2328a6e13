// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/svg/svg.h"

#include <fmt/format.h>

namespace weft::svg {
namespace {

constexpr const char* kStyle =
    "<style>\n"
    "  "
    "svg{--ink:#1a1d21;--soft:#667;--grid:#dde1e6;--page:#fff;--c0:#0b62c4;--c1:#b3470b;--c2:#0a7a4d;--c3:#"
    "7b2fb5;--c4:#9c6f00;--c5:#b8235a;--c6:#00727a;--c7:#5a6270}\n"
    "  @media (prefers-color-scheme:dark){svg{--ink:#e8eaed;--soft:#9aa3ad;--grid:#3a4048;--page:#16191d;"
    "--c0:#6cb0ff;--c1:#ffab70;--c2:#5fd3a0;--c3:#cf9cff;--c4:#e8c35a;--c5:#ff8fb4;--c6:#5fd0d8;--c7:#aab2bd}"
    "}\n"
    "  .page{fill:var(--page)} text{fill:var(--ink);font:12px Helvetica,Arial,sans-serif}\n"
    "  .title{font-size:15px;font-weight:bold} .soft{fill:var(--soft)} .small{font-size:10px}\n"
    "  .grid{stroke:var(--grid);stroke-width:1;fill:none} "
    ".axis{stroke:var(--soft);stroke-width:1;fill:none}\n"
    "  .change{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 3;fill:none}\n"
    "  .line{fill:none;stroke-width:1.8} .open{fill:var(--page);stroke-width:1.6}\n";

}  // namespace

std::string begin(const std::string& title, double width, double height, double title_x) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
      "aria-label=\"{}\">\n",
      width, height, escaped(title));
  out += kStyle;
  for (const char* kind : {"s", "f"}) {
    out += " ";
    for (size_t i = 0; i < kColours; ++i)
      out += fmt::format(" .{}{}{{{}:var(--c{})}}", kind, i, *kind == 's' ? "stroke" : "fill", i);
    out += "\n";
  }
  out += "</style>\n";
  out += fmt::format("<rect class=\"page\" width=\"{:g}\" height=\"{:g}\"/>\n", width, height);
  out += fmt::format("<text class=\"title\" x=\"{:g}\" y=\"20\">{}</text>\n", title_x, escaped(title));
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

}  // namespace weft::svg
