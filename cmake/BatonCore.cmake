# libbaton.so: the compiler and the profiler. Only ops, schedule and codegen may include Halide.h, so they are object
# libraries of their own; so are the folders where the optimiser of g++ has nothing to gain (docs/design/0017-compile-time.md).

set(core_folders support target clock ir types text pass transform frontend byoc interpreter driver page profile)
list(TRANSFORM core_folders PREPEND src/baton/)
baton_sources(core_sources "*.cc" ${core_folders})
list(FILTER core_sources EXCLUDE REGEX "/src/baton/(support/base|${baton_lab_folders})/")
baton_sources(halide_sources "*.cc" src/baton/codegen/evaluate)
baton_sources(codegen_sources "*.cc" src/baton/schedule src/baton/codegen)
list(REMOVE_ITEM codegen_sources ${halide_sources})
baton_sources(ops_sources "*.cc" src/baton/ops)
baton_sources(cold_sources "*.cc" src/baton/byoc src/baton/driver src/baton/frontend src/baton/interpreter src/baton/page
              src/baton/clock src/baton/profile/inside src/baton/profile/report src/baton/profile/write
              src/baton/profile/foreign src/baton/profile/views)
list(FILTER cold_sources EXCLUDE REGEX "/src/baton/(${baton_lab_folders})/")
list(REMOVE_ITEM core_sources ${cold_sources} "${CMAKE_SOURCE_DIR}/src/baton/support/version.cc")

add_library(baton_core SHARED)
# Without a macro that says so: the program shares the precompiled headers.
set_target_properties(baton_core PROPERTIES OUTPUT_NAME baton DEFINE_SYMBOL "")
target_include_directories(baton_core PUBLIC "${CMAKE_SOURCE_DIR}/src")
target_link_libraries(baton_core PRIVATE baton_options libzip ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
if(TARGET baton_runtime)
  target_link_libraries(baton_core PUBLIC baton_runtime)
endif()

target_sources(baton_core PRIVATE ${core_sources})
# The precompiled headers of all that do not read Halide.h: a target of their own, since parts of baton_core take them.
add_library(baton_headers OBJECT "${CMAKE_SOURCE_DIR}/src/baton/support/version.cc")
target_include_directories(baton_headers PUBLIC "${CMAKE_SOURCE_DIR}/src")
target_link_libraries(baton_headers PRIVATE baton_options)
baton_pch(baton_headers ${baton_common_headers})
baton_pch_of(baton_core baton_headers)
target_sources(baton_core PRIVATE $<TARGET_OBJECTS:baton_headers>)
baton_unity(baton_core)
set_source_files_properties("${CMAKE_SOURCE_DIR}/src/baton/support/version.cc" PROPERTIES
                            COMPILE_DEFINITIONS "BATON_VERSION=\"${PROJECT_VERSION}\"")

if(halide_sources)
  add_library(baton_halide OBJECT ${halide_sources})
  target_include_directories(baton_halide PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(baton_halide PRIVATE baton_options Halide::Halide)
  # visit.h says `Var`, which Halide has, too: in a group of files it must not come after a file's `using Halide::Var`.
  baton_pch(baton_halide <Halide.h> ${baton_common_headers} <baton/ir/visit.h>)
  baton_unity(baton_halide)
  target_sources(baton_core PRIVATE $<TARGET_OBJECTS:baton_halide>)
  target_link_libraries(baton_core PRIVATE $<LINK_ONLY:Halide::Halide>)
endif()

# baton_cold_part(<name> <like> <source>...): cold code of libbaton.so, with the precompiled headers of `like`.
function(baton_cold_part name like)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE baton_options)
  if(like STREQUAL "baton_halide")
    target_link_libraries(${name} PRIVATE Halide::Halide)
  endif()
  baton_cold_code(${name})
  baton_pch_of(${name} ${like})
  # g++ 12 at -O1 makes wrong code of a file that asks for -O3 (tests: Strided.IsWhatElementByElementIs).
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" own_level REGEX "^#pragma GCC optimize")
    if(own_level)
      message(FATAL_ERROR "${source} has an optimisation level of its own, and is among the cold code of ${name}")
    endif()
  endforeach()
  # Backends have a folder each, with the same names in all.
  baton_unity(${name} SEPARATE)
  target_sources(baton_core PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()
if(codegen_sources)
  baton_cold_part(baton_codegen baton_halide ${codegen_sources})  # its time is Halide's and LLVM's
endif()
if(ops_sources)
  baton_cold_part(baton_ops baton_halide ${ops_sources})
endif()
if(cold_sources)
  baton_cold_part(baton_cold baton_headers ${cold_sources})
endif()

# The version of the code generator: a hash of the sources that decide how kernels come out.
baton_sources(hashed_sources "*.[hcd]*" src/baton/ops src/baton/schedule src/baton/codegen src/baton/target)
set(source_hash_file "${CMAKE_BINARY_DIR}/generated/source_hash.cc")
add_custom_command(
  OUTPUT "${source_hash_file}"
  COMMAND "${CMAKE_COMMAND}" "-DOUT=${source_hash_file}" "-DROOT=${CMAKE_SOURCE_DIR}" -P
          "${CMAKE_SOURCE_DIR}/cmake/SourceHash.cmake"
  DEPENDS ${hashed_sources} "${CMAKE_SOURCE_DIR}/cmake/SourceHash.cmake"
  COMMENT "Hashing the sources of the code generator")
target_sources(baton_core PRIVATE "${source_hash_file}")

# baton_page(<target> <template> <function> <header>): an HTML page in a library, one text from its template and what that
# includes, which is of its folder or of src/baton/page/.
function(baton_page target template function header)
  get_filename_component(folder "${template}" DIRECTORY)
  baton_sources(page_sources "*" src/baton/page ${folder})
  set(page_file "${CMAKE_BINARY_DIR}/generated/${function}.cc")
  add_custom_command(
    OUTPUT "${page_file}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${CMAKE_SOURCE_DIR}/${template}" "-DFUNCTION=${function}" "-DHEADER=${header}"
            "-DOUTPUT=${page_file}" -P "${CMAKE_SOURCE_DIR}/cmake/EmbedPage.cmake"
    DEPENDS ${page_sources} "${CMAKE_SOURCE_DIR}/cmake/EmbedPage.cmake"
    COMMENT "Putting ${template} together")
  target_sources(${target} PRIVATE "${page_file}")
endfunction()
baton_page(baton_core src/baton/profile/page/page.html page_template baton/profile/write/page.h)
baton_page(baton_core src/baton/profile/curve_page/curve.html curve_page_template baton/profile/write/curve.h)

# The tables of tuned schedules that are shipped, one per family of processors.
baton_sources(table_sources "*.txt" src/baton/codegen/tables)
set(tables_file "${CMAKE_BINARY_DIR}/generated/schedule_tables.cc")
add_custom_command(
  OUTPUT "${tables_file}"
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${CMAKE_SOURCE_DIR}/src/baton/codegen/tables" "-DOUTPUT=${tables_file}" -P
          "${CMAKE_SOURCE_DIR}/cmake/EmbedTables.cmake"
  DEPENDS ${table_sources} "${CMAKE_SOURCE_DIR}/cmake/EmbedTables.cmake"
  COMMENT "Putting the tables of tuned schedules together")
target_sources(baton_core PRIVATE "${tables_file}")

# The device sheets of simulated devices that are shipped.
baton_sources(sheet_sources "*.json" src/baton/codegen/sim/sheets)
set(sheets_file "${CMAKE_BINARY_DIR}/generated/sim_sheets.cc")
add_custom_command(
  OUTPUT "${sheets_file}"
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${CMAKE_SOURCE_DIR}/src/baton/codegen/sim/sheets" "-DOUTPUT=${sheets_file}" -P
          "${CMAKE_SOURCE_DIR}/cmake/EmbedSheets.cmake"
  DEPENDS ${sheet_sources} "${CMAKE_SOURCE_DIR}/cmake/EmbedSheets.cmake"
  COMMENT "Putting the device sheets together")
target_sources(baton_core PRIVATE "${sheets_file}")

install(TARGETS baton_core LIBRARY DESTINATION lib)
