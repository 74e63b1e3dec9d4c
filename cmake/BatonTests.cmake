# Tests and benchmarks. One GoogleTest program from every tests/unit/**/*_test.cc; the golden runner from
# tools/golden; Google Benchmark programs from bench/ (not part of `all`).

option(BATON_TESTS "Build the tests" ON)

# baton_test_flags(<target>): the test's own code runs once, so compiling it is what costs: without optimisation half as
# much. What is tested, the libraries, keeps its flags.
function(baton_test_flags target)
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  if(BATON_SANITIZE)
    # Instrumented, much looks to g++ as if it read what it never set.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()

if(BATON_TESTS)
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(STATUS "The tests are not built: GoogleTest is not installed (Debian: libgtest-dev libgmock-dev; ./baton test)")
  endif()
endif()
if(BATON_TESTS AND GTest_FOUND)

  baton_sources(unit_sources "*.cc" tests/unit)
  if(unit_sources)
    # Only tests of the folders that may include Halide.h see it.
    set(halide_unit_sources ${unit_sources})
    list(FILTER halide_unit_sources INCLUDE REGEX "/tests/unit/(ops|schedule|codegen)/")
    list(FILTER unit_sources EXCLUDE REGEX "/tests/unit/(ops|schedule|codegen)/")

    # Whose precompiled headers all tests share: compiled as files of an executable are, without Halide's definitions.
    configure_file("${CMAKE_SOURCE_DIR}/cmake/test_paths.cc.in" "${CMAKE_BINARY_DIR}/generated/test_paths.cc" @ONLY)
    add_library(baton_test_headers OBJECT "${CMAKE_BINARY_DIR}/generated/test_paths.cc")
    target_link_libraries(baton_test_headers PRIVATE baton_options baton_lab GTest::gmock)
    baton_test_flags(baton_test_headers)
    set_target_properties(baton_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(baton_test_headers PRIVATE -fPIE)
    baton_pch(baton_test_headers <gmock/gmock.h> ${baton_common_headers})

    add_executable(baton_unit_tests ${unit_sources} $<TARGET_OBJECTS:baton_test_headers>)
    target_link_libraries(baton_unit_tests PRIVATE baton_options baton_lab GTest::gmock GTest::gtest_main)
    baton_test_flags(baton_unit_tests)
    baton_pch_of(baton_unit_tests baton_test_headers)
    baton_unity(baton_unit_tests)

    # Kernels by hand for the tests of the runtime: an object, and a library with the shim as codegen links it.
    set(test_kernels "${CMAKE_BINARY_DIR}/generated/test_kernels")
    add_custom_command(
      OUTPUT "${test_kernels}.so"
      COMMAND "${CMAKE_CXX_COMPILER}" -x c -std=c11 -O2 -fPIC "-I${BATON_HALIDE_ROOT}/include" "-I${CMAKE_SOURCE_DIR}/src"
              -Wall -Wextra -Wpedantic -Werror -c
              "${CMAKE_SOURCE_DIR}/tests/unit/runtime/test_kernels.c" -o "${test_kernels}.o"
      COMMAND "${CMAKE_CXX_COMPILER}" -shared -nostdlib "${shim_object}" "${test_kernels}.o" -o "${test_kernels}.so"
      DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/runtime/test_kernels.c"
              "${CMAKE_SOURCE_DIR}/src/baton/runtime/c_api.h" "${shim_embedded}"
      COMMENT "Building the kernels of the runtime's tests" VERBATIM)
    add_custom_target(baton_test_kernels DEPENDS "${test_kernels}.so")
    # A stand-in for CUDA's driver, which interprets kernels, under the driver's name; and one that is too old.
    set(fake_cuda "${CMAKE_BINARY_DIR}/generated/fake_cuda")
    set(fake_cuda_source "${CMAKE_SOURCE_DIR}/tests/unit/runtime/fake_cuda")
    foreach(age new old)
      file(MAKE_DIRECTORY "${fake_cuda}/${age}")
      add_custom_command(
        OUTPUT "${fake_cuda}/${age}/libcuda.so.1"
        COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 "$<IF:$<STREQUAL:${age},old>,-O0,-O2>" -Wall -Wextra -Werror -shared -fPIC -Wl,-soname,libcuda.so.1
                "$<$<STREQUAL:${age},old>:-DBATON_OLD_DRIVER>" "${fake_cuda_source}/libcuda.cpp"
                -o "${fake_cuda}/${age}/libcuda.so.1"
        DEPENDS "${fake_cuda_source}/libcuda.cpp" "${fake_cuda_source}/ptx.h"
        COMMAND_EXPAND_LISTS COMMENT "Building a stand-in for CUDA's driver (${age})" VERBATIM)
    endforeach()
    add_custom_target(baton_fake_cuda DEPENDS "${fake_cuda}/new/libcuda.so.1" "${fake_cuda}/old/libcuda.so.1")
    add_dependencies(baton_unit_tests baton_test_kernels baton_fake_cuda baton_plugins)

    # The tests of the runtime alone, against its library alone: built in a minute, and a sign that it needs no compiler.
    baton_sources(runtime_unit_sources "*.cc" tests/unit/runtime)
    add_executable(baton_runtime_tests EXCLUDE_FROM_ALL ${runtime_unit_sources}
                                                        "${CMAKE_BINARY_DIR}/generated/test_paths.cc")
    target_link_libraries(baton_runtime_tests PRIVATE baton_options baton_runtime GTest::gmock GTest::gtest_main)
    baton_test_flags(baton_runtime_tests)
    add_dependencies(baton_runtime_tests baton_test_kernels baton_plugins)
    if(halide_unit_sources)
      add_library(baton_halide_unit_tests OBJECT ${halide_unit_sources})
      target_link_libraries(baton_halide_unit_tests PRIVATE baton_options baton_lab GTest::gmock GTest::gtest
                                                            Halide::Halide)
      baton_test_flags(baton_halide_unit_tests)
      set_target_properties(baton_halide_unit_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(baton_halide_unit_tests PRIVATE -fPIE)
      baton_pch_of(baton_halide_unit_tests baton_test_headers)
      baton_unity(baton_halide_unit_tests)
      target_sources(baton_unit_tests PRIVATE $<TARGET_OBJECTS:baton_halide_unit_tests>)
      target_link_libraries(baton_unit_tests PRIVATE $<LINK_ONLY:Halide::Halide>)
    endif()
  endif()

  baton_sources(golden_sources "*.cc" tools/golden)
  if(golden_sources)
    add_executable(baton-golden ${golden_sources})
    target_link_libraries(baton-golden PRIVATE baton_options baton_core)
    target_compile_options(baton-golden PRIVATE $<$<CONFIG:Release>:-O0>)
    baton_unity(baton-golden)
  endif()
endif()

# Programs that measure against a bar, one per file, each with a main of its own: `ninja bars`.
baton_sources(bar_sources "*.cc" bench/bars)
add_custom_target(bars)
foreach(source IN LISTS bar_sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL "${source}")
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/bench" "${CMAKE_SOURCE_DIR}/tests/unit")
  target_link_libraries(${name} PRIVATE baton_options baton_lab)
  add_dependencies(bars ${name})
endforeach()

# The templates alone: needs Halide, and the kernel builder of the schedule tests.
if(EXISTS "${CMAKE_SOURCE_DIR}/bench/kernels.cc")
  add_executable(kernel_bench EXCLUDE_FROM_ALL bench/kernels.cc)
  target_include_directories(kernel_bench PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
  target_link_libraries(kernel_bench PRIVATE baton_options baton_core Halide::Halide)
endif()

# Records the samples that tests/unit/clock reads.
add_executable(record_samples EXCLUDE_FROM_ALL bench/record_samples.cc)
target_link_libraries(record_samples PRIVATE baton_options baton_lab)

baton_sources(bench_sources "*.cc" bench)
list(FILTER bench_sources EXCLUDE REGEX "/bench/(bars/|(kernels|record_samples)\\.cc$)")
find_package(benchmark QUIET)
if(bench_sources AND benchmark_FOUND)
  add_executable(baton_bench EXCLUDE_FROM_ALL ${bench_sources})
  target_link_libraries(baton_bench PRIVATE baton_options baton_lab benchmark::benchmark_main)
endif()
