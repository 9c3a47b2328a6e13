// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// In the place of the generated page, where the build had no Node.js.

#include "sc_main/report/page.h"

namespace weft::report {

PagePieces page_pieces() {
  return {nullptr, 0};
}

}  // namespace weft::report
