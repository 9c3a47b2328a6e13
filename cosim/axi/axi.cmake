# SPDX-License-Identifier: Apache-2.0
# Sources of cosim/axi.
set(WEFT_COSIM_AXI_SOURCES
  axi/axi_checker.cpp
  axi/axi_master.cpp
  axi/axi_pins.cpp
  axi/axi_slave.cpp)
