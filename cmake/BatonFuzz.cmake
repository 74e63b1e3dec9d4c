# Fuzzers: one program per file of tests/fuzz (libFuzzer, so clang only). Everything they call is instrumented too.
# Configured by the preset `fuzz`; ./baton test --slow builds and runs them.

option(BATON_FUZZ "Build the fuzzers of tests/fuzz, and everything else so that they see it" OFF)

if(BATON_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "fuzzers need clang (preset `fuzz` names it), not ${CMAKE_CXX_COMPILER_ID}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# Called at the end: the libraries are there.
function(baton_add_fuzzers)
  if(NOT BATON_FUZZ)
    return()
  endif()
  add_custom_target(fuzzers)
  baton_sources(fuzz_sources "*.cc" tests/fuzz)
  foreach(source IN LISTS fuzz_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL "${source}")
    target_include_directories(fuzz_${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/unit")
    target_link_libraries(fuzz_${name} PRIVATE baton_options baton_core)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${name})
  endforeach()
endfunction()
