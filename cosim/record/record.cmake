# SPDX-License-Identifier: Apache-2.0
# What crosses a block's boundary, in a file, and a testbench that replays it.
set(WEFT_COSIM_RECORD_SOURCES
  record/block_recorder.cpp
  record/memory_replay.cpp
  record/message_answers.cpp
  record/nmu_replay.cpp
  record/npu_replay.cpp
  record/recording.cpp
  record/recording_text.cpp
  record/replay.cpp
  record/router_replay.cpp
  record/switch_replay.cpp)
