// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Beginning and end, errors, time.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {
namespace {

weft_session* open_session = nullptr;

/// What MPI_Wtime adds when it is called again at the same time: ps.
constexpr int64_t kSpin = 100'000;

/// Levels of MPI_Pcontrol that are Weft's.
enum : int {
  kCompute = 7001,   ///< double: seconds of simulated computing, in place of what was measured
  kIteration = 7002  ///< int, int: number of an iteration; 1: it begins, 0: it ends
};

/// The shim is for this process. Children that are no MPI programs must not load it.
__attribute__((constructor)) void leave_preload() {
  const char* const all = std::getenv("LD_PRELOAD");
  if (all == nullptr || std::getenv("WEFT_PRELOAD_CHILDREN") != nullptr) return;
  std::string rest;
  const std::string list = all;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(" :", at), list.size());
    const std::string one = list.substr(at, end - at);
    if (!one.empty() && one.find("libweft_mpi_") == std::string::npos)
      rest += (rest.empty() ? "" : ":") + one;
    at = end + 1;
  }
  if (rest.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", rest.c_str(), 1);
}

/// The library runs alone in this process, whatever started it.
void be_singleton() {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_btl", "self", 0);
  setenv("OMPI_MCA_opal_warn_on_missing_libcuda", "0", 0);
  for (const char* const name : {"PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "PMIX_RANK", "PMIX_NAMESPACE"})
    unsetenv(name);
}

int begin(const char* call) {
  if (std::getenv("WEFT_SOCKET") == nullptr) return MPI_SUCCESS;
  weft_options options;
  weft_options_init(&options);
  options.shim = WEFT_SHIM_MPI;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(version, &length);
  // Its first line: the name.
  version[std::strcspn(version, "\n")] = 0;
  options.version = version;
  const int code = weft_open(&options, &open_session);
  check(call, code);
  begin_communicators();
  return MPI_SUCCESS;
}

}  // namespace

weft_session* session() {
  return open_session;
}

void die(const char* call, const std::string& text) {
  const int rank = open_session != nullptr ? weft_rank(open_session) : -1;
  std::fflush(stdout);
  std::fprintf(stderr, "weft: rank %d: %s: %s\n", rank, call, text.c_str());
  std::fflush(stderr);
  if (open_session != nullptr) {
    weft_bye(open_session, 1);
    weft_close(open_session);
  }
  _exit(1);
}

void check(const char* call, int code) {
  if (code == WEFT_OK) return;
  const char* const text = open_session != nullptr ? weft_last_error(open_session) : "";
  die(call, *text != 0 ? text : weft_strerror(code));
}

}  // namespace weft::mpi

using namespace weft::mpi;

WEFT_MPI int MPI_Init(int* argc, char*** argv) {
  const bool emulated = std::getenv("WEFT_SOCKET") != nullptr;
  if (emulated) be_singleton();
  const int result = PMPI_Init(argc, argv);
  return result != MPI_SUCCESS || !emulated ? result : begin("MPI_Init");
}

WEFT_MPI int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (std::getenv("WEFT_SOCKET") == nullptr) return PMPI_Init_thread(argc, argv, required, provided);
  be_singleton();
  // A call that blocks keeps the session to itself.
  const int most = MPI_THREAD_SERIALIZED;
  const int result = PMPI_Init_thread(argc, argv, std::min(required, most), provided);
  if (result != MPI_SUCCESS) return result;
  *provided = std::min(*provided, most);
  return begin("MPI_Init_thread");
}

WEFT_MPI int MPI_Finalize() {
  if (session() != nullptr) {
    finish_let_go("MPI_Finalize");
    check("MPI_Finalize", weft_bye(session(), 0));
    weft_close(open_session);
    open_session = nullptr;
  }
  return PMPI_Finalize();
}

WEFT_MPI int MPI_Abort(MPI_Comm comm, int code) {
  if (session() == nullptr) return PMPI_Abort(comm, code);
  std::fflush(stdout);
  std::fprintf(stderr, "weft: rank %d: MPI_Abort(%d)\n", weft_rank(session()), code);
  weft_bye(session(), code != 0 ? code : 1);
  weft_close(session());
  _exit(code & 0xff ? code & 0xff : 1);
}

WEFT_MPI int MPI_Get_processor_name(char* name, int* length) {
  if (session() == nullptr) return PMPI_Get_processor_name(name, length);
  const char* const node = weft_node_name(session(), weft_rank(session()));
  std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", node != nullptr ? node : "");
  *length = static_cast<int>(std::strlen(name));
  return MPI_SUCCESS;
}

WEFT_MPI double MPI_Wtime() {
  if (session() == nullptr) return PMPI_Wtime();
  // A program that spins until a time comes to an end, also where computing takes no time.
  static int64_t last = -1;
  if (weft_now(session()) == last) check("MPI_Wtime", weft_compute(session(), kSpin));
  last = weft_now(session());
  return static_cast<double>(last) * 1e-12;
}

WEFT_MPI int MPI_Pcontrol(const int level, ...) {
  if (session() == nullptr) return MPI_SUCCESS;
  va_list more;
  va_start(more, level);
  if (level == kCompute) {
    const double seconds = va_arg(more, double);
    if (!(seconds >= 0 && seconds < 1e6)) die("MPI_Pcontrol", "seconds of computing must be from 0 to 1e6");
    check("MPI_Pcontrol", weft_compute(session(), std::llround(seconds * 1e12)));
  } else if (level == kIteration) {
    const int number = va_arg(more, int);
    const int begins = va_arg(more, int);
    check("MPI_Pcontrol", weft_mark(session(), WEFT_MARK_ITERATION, number, begins, nullptr));
  }
  va_end(more);
  return MPI_SUCCESS;
}

WEFT_MPI double MPI_Wtick() {
  return session() == nullptr ? PMPI_Wtick() : 1e-12;
}

/// For libnccl.so.2 of Weft: a program of both is one rank.
extern "C" __attribute__((visibility("default"))) weft_session* weft_shim_session() {
  return session();
}

/// For refused.cpp.
extern "C" __attribute__((visibility("hidden"))) void weft_mpi_refuse(const char* call) {
  die(call, "Weft does not emulate this call; docs/guide/emulate_mpi.md lists those it does");
}
