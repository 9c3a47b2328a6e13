// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/report/page.h"

#include <stdexcept>

#include "configs/types.h"

namespace weft::report {
namespace {

/// What stands in the page in the place of the data; report/build.mjs checks that it is there once.
constexpr std::string_view kMark = "@WEFT_REPORT_DATA@";

}  // namespace

bool has_page() {
  return page_pieces().count != 0;
}

void need_page() {
  if (!has_page())
    throw UserError(
        ExitCode::internal,
        "this weft was built without the page of its reports, which needs Node.js: run "
        "scripts/setup.sh (it installs Node.js and npm where they are missing), then scripts/run.sh or "
        "scripts/test.sh, which fetch the packages of report/package-lock.json and build weft again");
}

std::string page_with(std::string_view json) {
  need_page();
  std::string page;
  const PagePieces all = page_pieces();
  for (size_t i = 0; i < all.count; ++i) page += all.pieces[i];
  const size_t at = page.find(kMark);
  if (at == std::string::npos) throw std::logic_error("the page of reports has no place for its data");
  return page.replace(at, kMark.size(), json);
}

}  // namespace weft::report
