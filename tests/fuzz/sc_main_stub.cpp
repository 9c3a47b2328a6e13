// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SystemC's library wants this; here nothing calls it, because main() is the fuzzer's or the test's.

extern "C" int sc_main(int, char**);

extern "C" int sc_main(int, char**) {
  return 1;
}
