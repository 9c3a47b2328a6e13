// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/support/kernel_warnings.h"

#include <string_view>
#include <systemc>

namespace weft::test {
namespace {

std::string& kept() {
  static std::string text;
  return text;
}

void handle(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  // An sc_start() after everything has happened is no mistake: tests go on until nothing is left.
  const bool idle_start = std::string_view(report.get_msg_type()) == sc_core::SC_ID_NO_SC_START_ACTIVITY_;
  if (report.get_severity() == sc_core::SC_WARNING && !idle_start)
    kept() += std::string("SystemC warning: ") + report.get_msg_type() + ": " + report.get_msg() + "\n";
  sc_core::sc_report_handler::default_handler(report, actions);
}

}  // namespace

void keep_kernel_warnings() {
  sc_core::sc_report_handler::set_handler(handle);
}

std::string take_kernel_warnings() {
  std::string text;
  text.swap(kept());
  return text;
}

}  // namespace weft::test
