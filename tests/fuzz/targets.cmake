# SPDX-License-Identifier: Apache-2.0
# The fuzz targets, and what each links; sources besides its own. A target is <name>_fuzz.cpp with its seeds in corpus/<name>.
set(WEFT_FUZZ_TARGETS chakra groups yaml options graph routes custom text)
set(WEFT_FUZZ_LINKS_chakra weft::workload)
set(WEFT_FUZZ_LINKS_groups weft::workload)
set(WEFT_FUZZ_LINKS_yaml weft::sc_models)
set(WEFT_FUZZ_SOURCES_yaml sc_main_stub.cpp large_machine.cpp)
set(WEFT_FUZZ_LINKS_options weft_cli)
set(WEFT_FUZZ_SOURCES_options sc_main_stub.cpp large_machine.cpp)
set(WEFT_FUZZ_LINKS_graph weft::configs)
set(WEFT_FUZZ_SOURCES_graph large_machine.cpp)
set(WEFT_FUZZ_LINKS_routes weft::configs)
set(WEFT_FUZZ_LINKS_custom weft::workload)
set(WEFT_FUZZ_LINKS_text weft::workload)
