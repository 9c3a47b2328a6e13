// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The page of `weft report` without its data. The build makes it from report/ where Node.js and the packages
// of report/package-lock.json are there; otherwise there is none.

#ifndef WEFT_SC_MAIN_REPORT_PAGE_H
#define WEFT_SC_MAIN_REPORT_PAGE_H

#include <string>
#include <string_view>

namespace weft::report {

/// False: this program was built without Node.js.
bool has_page();

/// Throws UserError(internal) that says how to get one.
void need_page();

/// The page with `json`, which script_json() has made, as its data. Throws as need_page().
std::string page_with(std::string_view json);

/// HTML in pieces, one after the other; generated, or no_page.cpp.
struct PagePieces {
  const std::string_view* pieces;
  size_t count;
};
PagePieces page_pieces();

}  // namespace weft::report

#endif
