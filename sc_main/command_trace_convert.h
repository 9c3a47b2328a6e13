// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_SC_MAIN_COMMAND_TRACE_CONVERT_H
#define WEFT_SC_MAIN_COMMAND_TRACE_CONVERT_H

#include <memory>
#include <string>
#include <vector>

#include "sc_main/command.h"
#include "sc_main/text_options.h"
#include "workload/convert/trace_set.h"

namespace weft::cli {

struct ConvertRequest {
  std::vector<std::string> inputs;
  std::string out;
  std::string name;  ///< "": the converter's default
};

/// One format that `weft trace convert` reads.
class TraceConverter {
 public:
  virtual ~TraceConverter() = default;
  virtual const char* name() const = 0;         ///< the word behind --from
  virtual const char* description() const = 0;  ///< one line for the help
  virtual void add_options(CLI::App& /*group*/) {}
  /// Throws UserError. The report has no prefix when the converter has printed everything itself.
  virtual convert::Report convert(const ConvertRequest& request) = 0;
};

// One a file: sc_main/convert/.
std::unique_ptr<TraceConverter> make_goal_converter();
std::unique_ptr<TraceConverter> make_flexflow_converter();
std::unique_ptr<TraceConverter> make_pytorch_converter();
std::unique_ptr<TraceConverter> make_text_converter();

/// The name of the traces: as asked for, or that of the first input without its ending.
std::string name_of(const ConvertRequest& request);

/// The only file of a request. Throws UserError(usage) if there are several.
const std::string& only_input(const ConvertRequest& request, const char* format);

/// `weft trace convert --from FORMAT INPUT.. --out DIR`.
void add_trace_convert(CLI::App& trace, Action& action);

}  // namespace weft::cli

#endif
