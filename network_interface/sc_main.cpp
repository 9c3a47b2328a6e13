// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SystemC's library wants an sc_main. A program that links libweft_net.so begins in its own main, so that
// nobody calls this one.

extern "C" __attribute__((weak, visibility("default"))) int sc_main(int, char**);

int sc_main(int, char**) {
  return 0;
}
