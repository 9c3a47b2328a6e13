// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Figures of public listings of nccl-tests' all_reduce_perf that are not among the golden data: in-place
// times in us, from 1 KiB on, each size twice the one before.

#ifndef WEFT_TESTS_LIBRARY_LISTINGS_H
#define WEFT_TESTS_LIBRARY_LISTINGS_H

#include <vector>

namespace weft::test {

/// Two nodes of eight H100, eight NICs of 400 Gb/s each, NCCL 2.26.2 (NVIDIA/nccl-tests issue 309).
inline const std::vector<double> kTwoNodesOfH100 = {
    26.65, 28.22, 29.72, 31.67, 32.24, 33.47,  33.08,  38.12,  46.79,  70.33, 71.47, 76.62, 94.22,
    131.4, 183.8, 267.7, 466.3, 749.2, 1276.0, 2355.1, 4470.2, 8717.2, 17284, 34365, 68668};

/// Four nodes of another such machine, the same version and source.
inline const std::vector<double> kFourNodesOfH100 = {
    37.10, 40.03, 41.42, 45.55, 46.39, 46.79,  47.60,  55.06,  66.86,  72.78, 82.21, 132.2,
    154.0, 202.4, 258.3, 370.3, 574.4, 1013.1, 1772.4, 3111.7, 5802.8, 11501, 22874, 45573};

/// Two p5.48xlarge, NCCL 2.18.5 (awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests).
inline const std::vector<double> kTwoP5 = {69.04,  71.29,  78.55,  80.47,  82.35, 89.75, 103.8, 96.55, 104.7,
                                           113.3,  121.3,  147.1,  167.7,  201.1, 298.3, 417.7, 604.2, 876.8,
                                           1452.7, 2554.9, 4565.6, 9108.5, 17343, 33628, 66109};

}  // namespace weft::test

#endif
