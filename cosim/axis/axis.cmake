# SPDX-License-Identifier: Apache-2.0
# Sources of cosim/axis.
set(WEFT_COSIM_AXIS_SOURCES
  axis/pins.cpp
  axis/stream_checker.cpp
  axis/stream_master.cpp
  axis/stream_pins.cpp
  axis/stream_slave.cpp)
