// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Writes the signals of a verilated block's inside to a VCD or FST file. Which of the two TRACE of
// weft_add_rtl_block says, and NAME.h tells it this class. Verilator wants an order: tracing is switched on,
// then the model is made, then the simulation begins, then the file is opened. So the trace stands before its
// model:
//
//     struct Block : sc_core::sc_module {
//       ..
//       weft::cosim::RtlTrace<Vmy_block> trace;
//       Vmy_block rtl;
//     };
//     Block::Block(..) : trace("trace", file), rtl("rtl") { trace.of(rtl); .. }

#ifndef WEFT_COSIM_CLOCK_RTL_TRACE_H
#define WEFT_COSIM_CLOCK_RTL_TRACE_H

#include <memory>
#include <string>
#include <systemc>
#include <type_traits>
#include <utility>

namespace weft::cosim {

/// How a model is traced; NAME.h specialises it for a model with TRACE.
template <typename Model>
struct RtlTraceFile {
  using Type = void;
};

/// What all traces share: they are closed when the program ends, whoever does not destroy them.
class RtlTraceBase : public sc_core::sc_module {
 public:
  ~RtlTraceBase() override;
  const std::string& file() const { return file_; }

 protected:
  /// `file`: the path; "": no trace. Errors: UserError(usage) when the model was built without TRACE.
  RtlTraceBase(sc_core::sc_module_name name, std::string file, bool compiled_in);
  virtual void open() = 0;
  virtual void close() = 0;
  [[noreturn]] void cannot_open() const;

 private:
  void begin();
  bool settled_ = false;
  std::string file_;
  friend class OpenTraces;
};

/// Closes all traces: for programs that end without static destructors.
void close_traces();

template <typename Model>
class RtlTrace final : public RtlTraceBase {
  using File = typename RtlTraceFile<Model>::Type;
  static constexpr bool kCompiledIn = !std::is_void<File>::value;

 public:
  RtlTrace(sc_core::sc_module_name name, const std::string& file) : RtlTraceBase(name, file, kCompiledIn) {
    if constexpr (kCompiledIn) {
      if (!file.empty()) RtlTraceFile<Model>::switch_on();
    }
  }
  ~RtlTrace() override { close(); }

  /// The model that is traced; while the block is built.
  void of(Model& model) { model_ = &model; }

 private:
  void open() override {
    if constexpr (kCompiledIn) {
      if (model_ == nullptr) return;
      opened_ = std::make_unique<File>();
      model_->trace(opened_.get(), 99);
      opened_->open(file().c_str());
      if (!opened_->isOpen()) cannot_open();
    }
  }
  void close() override {
    if constexpr (kCompiledIn) {
      if (opened_) opened_->close();
    }
  }

  Model* model_ = nullptr;
  std::unique_ptr<std::conditional_t<kCompiledIn, File, int>> opened_;
};

}  // namespace weft::cosim

#endif
