// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/signal_table.h"

#include <fmt/format.h>

namespace weft::cli {

const std::vector<SignalRow>& signal_table() {
  constexpr const char* kAll = "all";
  constexpr const char* kPackets = "packet fidelity";
  static const std::vector<SignalRow> rows = {
      {"NPU", "npu*.state", 3, "idle, communicate, remote_memory, memory, compute", kAll,
       "what the rank's time counts as: the first of compute, memory, remote memory and communication that "
       "goes on"},
      {"NPU", "npu*.node", 64, "", kAll, "ID of the trace node that was started last"},
      {"NPU", "npu*.footprint", 64, "", "`run.footprint`", "bytes that the rank's tensors take in the HBM"},
      {"NMU", "nmu*.state", 2, "idle, collective, waiting", kAll,
       "whether it has a collective to do, and whether that waits for messages of others"},
      {"NMU", "nmu*.outstanding", 16, "", kAll, "messages sent and not yet delivered"},
      {"NMU", "nmu*.collective", 32, "", kAll,
       "number of the collective (`stream` in collectives.csv) of the last message"},
      {"NMU", "nmu*.phase", 8, "", kAll, "phase of the plan of the last message"},
      {"NMU", "nmu*.round", 32, "", kAll, "round within the phase of the last message"},
      {"HBM channel", "hbm*.channel*.queue", 16, "", "`hbm.model: banked`",
       "bursts that wait in the channel"},
      {"HBM channel", "hbm*.channel*.row_hits", 64, "", "`hbm.model: banked`",
       "bursts so far that found their row open"},
      {"HBM, remote memory, tier", "{hbm,remote,host,nvme}*.queue", 16, "", "all that are built",
       "accesses that wait or are served"},
      {"HBM, remote memory, tier", "{hbm,remote,host,nvme}*.bytes", 64, "", "all that are built",
       "bytes moved so far"},
      {"collective unit", "*.unit.buffered", 64, "", "`in_switch` collectives", "bytes that the unit holds"},
      {"collective unit", "*.unit.blocks", 32, "", "`in_switch` collectives",
       "blocks of chunks that it works on"},
      {"collective unit", "*.unit.waiting", 32, "", "`in_switch` collectives",
       "contributions that wait for room in the buffer"},
      {"router output", "packet*.out*.busy", 1, "", kPackets,
       "flits leave; burst by burst, or flit by flit with `--waves-flits`"},
      {"router output", "packet*.out*.vc", 8, "", kPackets, "virtual channel of the last flit"},
      {"router output", "packet*.out*.vc*_credits", 32, "", kPackets,
       "credits of the virtual channel: free places of the buffer behind"},
      {"router output", "packet*.out*.vn*_paused", 1, "", "`flow_control: pfc`",
       "the virtual network is paused by the next router"},
      {"router input", "packet*.in*.vc*_flits", 32, "", kPackets,
       "flits in the buffer of the virtual channel"},
      {"link, per direction", "*.busy", 1, "", kAll,
       "the link is taken, with an edge for each message; a gap of zero length is no gap"},
      {"link, per direction", "*.bytes", 64, "", kAll,
       "bytes that have left over it so far, at the end of each message"},
      {"link, per direction", "*.flow", 32, "", kAll,
       "whose they are: the low word of the message's id, as in recordings"},
  };
  return rows;
}

std::string signal_page() {
  std::string text =
      "# Signals of waveforms\n\n"
      "`weft run --waves PATTERN` records these signals. `weft waves --signals` prints this page. Each name "
      "begins with\n"
      "`job.`, the module that everything is in, which patterns may leave out. `*` stands for numbers and "
      "parts of names:\n"
      "`npu*.state` is `npu0.state`, `npu1.state` ... A link's name is that of links.csv.\n\n"
      "Values are those at the end of each instant. Counters are cumulative. [Waveforms](guide/waveforms.md) "
      "tells how to\n"
      "record them and to look at them.\n\n"
      "| module | signal | bits | machines that have it | meaning |\n|---|---|---|---|---|\n";
  for (const SignalRow& row : signal_table()) {
    text +=
        fmt::format("| {} | `{}` | {} | {} | {}", row.modules, row.name, row.width, row.when, row.meaning);
    text += *row.values == '\0' ? " |\n" : fmt::format("; values: {} |\n", row.values);
  }
  return text;
}

}  // namespace weft::cli
