# SPDX-License-Identifier: Apache-2.0
# Programs of MPI and NCCL under `weft emulate`. Without an MPI its part is left out, with a message of CMake's.
add_test(NAME nccl_functions COMMAND ${CMAKE_CURRENT_LIST_DIR}/functions_test.sh $<TARGET_FILE:weft_nccl>
         ${PROJECT_SOURCE_DIR}/emulation/nccl/functions.txt)
set_tests_properties(nccl_functions PROPERTIES LABELS cli)
if(NOT WEFT_SANITIZE)
  set(_weft_mpis "")
  foreach(mpi ompi mpich)
    string(TOUPPER ${mpi} upper)
    if(TARGET weft_mpi_${mpi})
      list(APPEND _weft_mpis --mpi ${mpi}=${WEFT_MPICC_${upper}})
    else()
      message(STATUS "The test emulation_shims leaves out ${mpi}, whose shim is not built")
    endif()
  endforeach()
  add_test(NAME emulation_shims
    COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/shims_test.py --weft $<TARGET_FILE:weft> --source ${PROJECT_SOURCE_DIR}
            --work ${PROJECT_BINARY_DIR}/emulation_shims_test --nccl $<TARGET_FILE_DIR:weft_nccl> ${_weft_mpis})
  set_tests_properties(emulation_shims PROPERTIES TIMEOUT 600 LABELS cli)
endif()
