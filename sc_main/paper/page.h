// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_PAPER_PAGE_H
#define WEFT_SC_MAIN_PAPER_PAGE_H

#include <string>
#include <vector>

#include "sc_main/paper/definition.h"
#include "sc_main/paper/outcome.h"

namespace weft::paper {

struct Result {
  Figure figure;
  std::vector<Point> points;
  Outcome outcome;
};

/// For the terminal.
std::string text_of(const Result& result);

/// A page in Markdown of all figures: what is given, fitted and unknown, what was expected and measured.
/// `pictures`: the folder of the drawings as seen from the page.
std::string page_of(const std::vector<Result>& results, const std::string& pictures);

/// "table4.svg", "table4_2.svg": the name of a figure's plot.
std::string picture_name(const Figure& figure, size_t plot);

}  // namespace weft::paper

#endif
