// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/signal_table.h"

#include <fmt/format.h>

namespace weft::cli {

const std::vector<SignalRow>& signal_table() {
  constexpr const char* kAll = "all";
  constexpr const char* kPackets = "packet fidelity";
  constexpr const char* kStalls = "none, busy, arbitration, paused, credits, vc, rate";
  static const std::vector<SignalRow> rows = {
      {"NPU", "npu*.state", 3, "idle, communicate, remote_memory, memory, compute", kAll,
       "what the rank's time counts as: the first of compute, memory, remote memory and communication that "
       "goes on"},
      {"NPU", "npu*.node", 64, "", kAll, "ID of the trace node that was started last"},
      {"NPU", "npu*.footprint", 64, "", "`run.footprint`", "bytes that the rank's tensors take in the HBM"},
      {"NMU", "nmu*.state", 2, "idle, collective, waiting", kAll,
       "whether it has a collective to do, and whether that waits for messages of others"},
      {"NMU", "nmu*.outstanding", 16, "", kAll,
       "what is due in it later, when it was last active: messages on their way to it, and delays of its "
       "own"},
      {"NMU", "nmu*.inject_queue", 32, "", kAll,
       "own messages that wait to leave: handed over, and without their link (packet fidelity: not yet given "
       "to the network interface)"},
      {"NMU", "nmu*.receive_queue", 32, "", kAll,
       "messages for it that are coming in (packet fidelity: that are here), or wait for a link, an "
       "endpoint's "
       "delay or their reduction"},
      {"NMU", "nmu*.collective", 32, "", kAll,
       "number of the collective (`stream` in collectives.csv) of the last message"},
      {"NMU", "nmu*.phase", 8, "", kAll, "phase of the plan of the last message"},
      {"NMU", "nmu*.round", 32, "", kAll, "round within the phase of the last message"},
      {"HBM channel", "hbm*.channel*.queue", 16, "", "`hbm.model: banked`",
       "bursts that wait in the channel"},
      {"HBM channel", "hbm*.channel*.row_hits", 64, "", "`hbm.model: banked`",
       "bursts so far that found their row open"},
      {"HBM channel", "hbm*.channel*.bytes", 64, "", "`hbm.model: banked`",
       "bytes moved so far; of a long stream all of a piece at its end"},
      {"HBM, remote memory, tier, memory of a group", "{hbm,remote,host,nvme,pool.*.memory}*.queue", 16, "",
       "all that are built", "accesses that wait or are served"},
      {"HBM, remote memory, tier, memory of a group", "{hbm,remote,host,nvme,pool.*.memory}*.bytes", 64, "",
       "all that are built", "bytes moved so far"},
      {"CXL memory", "{hbm,remote,host,nvme,pool.*.memory}*.read_credits", 32, "", "memory model `cxl`",
       "lines of 64 B of read data for which the host has room"},
      {"CXL memory", "{hbm,remote,host,nvme,pool.*.memory}*.write_credits", 32, "", "memory model `cxl`",
       "lines of 64 B of writes for which the device has room"},
      {"memory group", "pool.group*.port*.queue", 32, "", "`memory.pool` but `analytical`",
       "loads (with `split: whole` chunks) that wait to be served for the link"},
      {"memory group", "pool.group*.port*.data", 64, "", "`memory.pool` but `analytical`",
       "bytes begun for the link that the group's memory has still to read; at packet fidelity also those "
       "that the link has still to let out"},
      {"memory group", "pool.group*.requests", 32, "", "`memory.pool` but `analytical`",
       "loads (with `split: whole` chunks) that wait to be served"},
      {"memory group", "pool.group*.data", 64, "", "`memory.pool` but `analytical`",
       "bytes that it has begun to serve and that its memory or its links have still to let out"},
      {"memory group", "pool.group*.loaded", 64, "", "`memory.pool` but `analytical`",
       "bytes that it has begun to give out so far"},
      {"memory group", "pool.group*.stored", 64, "", "`memory.pool` but `analytical`",
       "bytes that it has taken so far"},
      {"memory group", "pool.group*.port*.credits", 64, "", "`memory.pool`, packet fidelity",
       "bytes of stores that may still be asked to come by the link"},
      {"collective unit", "*.unit.buffered", 64, "", "`in_switch` collectives", "bytes that the unit holds"},
      {"collective unit", "*.unit.blocks", 32, "", "`in_switch` collectives",
       "blocks of chunks that it works on"},
      {"collective unit", "*.unit.waiting", 32, "", "`in_switch` collectives",
       "contributions that wait for room in the buffer"},
      {"collective unit", "*.unit.reducing", 1, "", "`in_switch` collectives", "it reduces"},
      {"switch input", "switch*.in*.queue", 32, "", "switches at message fidelity",
       "messages that came by it and have not left entirely"},
      {"switch input", "switch*.in*.head", 32, "", "switches at message fidelity",
       "where the first message goes that no output has taken: number of the NPU's place"},
      {"switch input", "switch*.in*.state", 2, "idle, waiting, sending", "switches at message fidelity",
       "what its messages do: of several the furthest"},
      {"switch output", "switch*.out*.input", 16, "", "switches at message fidelity",
       "the input whose message it sends, or sent last"},
      {"router output", "*packet*.out*.busy", 1, "", kPackets,
       "flits leave; burst by burst, or flit by flit with `--waves-flits`"},
      {"router output", "*packet*.out*.vc", 8, "", kPackets, "virtual channel of the last flit"},
      {"router output", "*packet*.out*.input", 16, "", kPackets, "the input that was granted it last"},
      {"router output", "*packet*.out*.stall", 3, kStalls, kPackets,
       "why nothing leaves that is ready: another is sent, the crossbar serves others, it is paused, no "
       "credits, no free virtual channel"},
      {"router output", "*packet*.out*.vc*_credits", 32, "", kPackets,
       "credits of the virtual channel: free places of the buffer behind"},
      {"router output", "*packet*.out*.vn*_paused", 1, "", "`flow_control: pfc`",
       "the virtual network is paused by the next router"},
      {"router input", "*packet*.in*.vc*_flits", 32, "", kPackets,
       "flits in the buffer of the virtual channel"},
      {"router input", "*packet*.in*.state", 2, "idle, vc_allocation, switch_allocation, sending", kPackets,
       "what the packet at the front waits for or does: of several virtual channels the furthest"},
      {"router input", "*packet*.in*.head", 32, "", kPackets,
       "where that packet goes: number of the rank in the packet network"},
      {"network interface", "*packet*.{ni,unit}_*.vc*_credits", 32, "", kPackets,
       "credits of the virtual channel: free places of the router's buffer"},
      {"network interface", "*packet*.{ni,unit}_*.queue", 32, "", kPackets,
       "messages of which no packet has begun"},
      {"link, per direction", "*.busy", 1, "", kAll,
       "the link is taken, with an edge for each message; a gap of zero length is no gap"},
      {"link, per direction", "*.bytes", 64, "", kAll,
       "bytes that have left over it so far, at the end of each message (packet fidelity: packet, with "
       "headers "
       "and padding)"},
      {"link, per direction", "*.rate", 64, "", kAll,
       "bytes per second of what is being sent, a real number; its integral is the bytes"},
      {"link, per direction", "*.stall", 3, kStalls, kAll,
       "why nothing leaves that is ready, as at router outputs; at message and analytical fidelity `busy` or "
       "none; `rate`: DCQCN holds it back"},
      {"link, per direction", "*.queue", 32, "", "message and analytical fidelity",
       "messages that are ready and wait for it"},
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
  text +=
      "\nPins of RTL blocks, their clocks and resets are signals, too, by the names of the block's ports: "
      "`*.s_axis_tvalid`,\n"
      "`*.clock`. They are recorded whenever they change. A pin of more than 64 bits is several signals: "
      "`*.s_axis_tdata_63_0`,\n"
      "`*.s_axis_tdata_127_64`. What is inside a block goes into a file of its own ([RTL](rtl.md)).\n\n"
      "A block in the place of a router has the router's `busy`, `vc`, `vc*_credits` and `vc*_flits`, and "
      "`busy`, `bytes`,\n"
      "`rate` and `flow` of its links, by what comes and leaves at its ports. Only the block knows why "
      "something waits in it,\n"
      "so there are no signals `input`, `state`, `head` and `stall`.\n";
  return text;
}

}  // namespace weft::cli
