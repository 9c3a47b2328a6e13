// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/clock/rtl_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "configs/types.h"

namespace weft::cosim {

/// Machines are not taken down at the end of a run: the files are closed when the program ends.
class OpenTraces {
 public:
  ~OpenTraces() { close(); }
  void close() {
    for (RtlTraceBase* trace : traces_) trace->close();
    traces_.clear();
  }
  void add(RtlTraceBase* trace) { traces_.push_back(trace); }
  void remove(RtlTraceBase* trace) {
    traces_.erase(std::remove(traces_.begin(), traces_.end(), trace), traces_.end());
  }
  static OpenTraces& all() {
    static OpenTraces traces;
    return traces;
  }

 private:
  std::vector<RtlTraceBase*> traces_;
};

void close_traces() {
  OpenTraces::all().close();
}

RtlTraceBase::RtlTraceBase(sc_core::sc_module_name module_name, std::string file, bool compiled_in)
    : sc_core::sc_module(module_name), file_(std::move(file)) {
  if (file_.empty()) return;
  if (!compiled_in) {
    throw UserError(
        ExitCode::usage,
        fmt::format("block {}: a trace is to go to {}, and the block was built without TRACE; build it with "
                    "`TRACE vcd` or `TRACE fst` in weft_add_rtl_block",
                    name(), file_));
  }
  SC_HAS_PROCESS(RtlTraceBase);
  SC_METHOD(begin);
}

RtlTraceBase::~RtlTraceBase() {
  OpenTraces::all().remove(this);
}

void RtlTraceBase::begin() {
  // The model has evaluated its pins once before.
  if (!settled_) {
    settled_ = true;
    next_trigger(sc_core::SC_ZERO_TIME);
    return;
  }
  open();
  OpenTraces::all().add(this);
}

void RtlTraceBase::cannot_open() const {
  throw UserError(ExitCode::usage, fmt::format("block {}: the trace {} cannot be written: {}", name(), file_,
                                               std::strerror(errno)));
}

}  // namespace weft::cosim
