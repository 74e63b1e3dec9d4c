# Language, warnings, optimisation and sanitizers: what every target of ours is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(BATON_WERROR "Warnings in our own code are errors" ON)
set(BATON_SANITIZE "" CACHE STRING "Value for -fsanitize, empty for none")

# No debug information in what users build: profilers and stack traces name functions by the symbol table. Line
# tables are a matter of the preset `dev`.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g0 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
if(BATON_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")  # instrumented code at -O1 takes g++ more than twice as long
endif()

# baton_cold_code(<target>): in a release, for code that is compiled more often than it runs.
function(baton_cold_code target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# baton_options: linked PRIVATE by each of our targets, so that third-party code (nanobind) keeps its own flags.
add_library(baton_options INTERFACE)
target_compile_options(baton_options INTERFACE -Wall -Wextra -fno-plt)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler collects its garbage from 1 GB on (by default from 128 MB, which a precompiled header alone reaches).
  target_compile_options(baton_options INTERFACE --param=ggc-min-heapsize=1000000)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlaps and overruns inside its own std::string and std::vector where there are none (GCC bugs 105329, 105651).
  target_compile_options(baton_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                         -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Hints for g++'s optimiser: clang (fuzzers, clang-tidy) does without.
  target_compile_options(baton_options INTERFACE -Wno-unknown-attributes -Wno-ignored-attributes -Wno-unknown-pragmas)
  # libstdc++ 12 itself uses what it deprecates.
  target_compile_options(baton_options INTERFACE -Wno-deprecated-declarations)
endif()
if(BATON_WERROR)
  target_compile_options(baton_options INTERFACE -Werror)
endif()

if(BATON_SANITIZE)
  add_compile_options(-fsanitize=${BATON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${BATON_SANITIZE})
else()
  # A symbol that is missing shows when the library is linked, not when a user loads it. (Sanitizer runtimes leave
  # symbols to the executable, so the check cannot be made there.)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,-z,defs>)
endif()
