# libbaton.so: the compiler. Two object libraries, because only ops, schedule and codegen may include Halide.h.

set(core_folders support target ir types text pass transform frontend byoc interpreter driver profile store tune predict map)
list(TRANSFORM core_folders PREPEND src/baton/)
baton_sources(core_sources "*.cc" ${core_folders})
list(FILTER core_sources EXCLUDE REGEX "/src/baton/support/base/")
baton_sources(halide_sources "*.cc" src/baton/ops src/baton/schedule src/baton/codegen)

add_library(baton_core SHARED)
set_target_properties(baton_core PROPERTIES OUTPUT_NAME baton)
target_include_directories(baton_core PUBLIC "${CMAKE_SOURCE_DIR}/src")
target_link_libraries(baton_core PUBLIC nlohmann_json::nlohmann_json
                                 PRIVATE baton_options libzip ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
if(TARGET baton_runtime)
  target_link_libraries(baton_core PUBLIC baton_runtime)
endif()

target_sources(baton_core PRIVATE ${core_sources})
baton_unity(baton_core)
set_source_files_properties("${CMAKE_SOURCE_DIR}/src/baton/support/version.cc" PROPERTIES
                            COMPILE_DEFINITIONS "BATON_VERSION=\"${PROJECT_VERSION}\"")

if(halide_sources)
  add_library(baton_halide OBJECT ${halide_sources})
  target_include_directories(baton_halide PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(baton_halide PRIVATE baton_options nlohmann_json::nlohmann_json Halide::Halide)
  baton_pch(baton_halide <Halide.h>)
  baton_unity(baton_halide)
  target_sources(baton_core PRIVATE $<TARGET_OBJECTS:baton_halide>)
  target_link_libraries(baton_core PRIVATE $<LINK_ONLY:Halide::Halide>)
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

# The HTML page of a profile: one text from the files of profile/page/.
baton_sources(page_sources "*" src/baton/profile/page)
set(page_file "${CMAKE_BINARY_DIR}/generated/page_template.cc")
add_custom_command(
  OUTPUT "${page_file}"
  COMMAND "${CMAKE_COMMAND}" "-DINPUT=${CMAKE_SOURCE_DIR}/src/baton/profile/page/page.html" "-DOUTPUT=${page_file}" -P
          "${CMAKE_SOURCE_DIR}/cmake/EmbedPage.cmake"
  DEPENDS ${page_sources} "${CMAKE_SOURCE_DIR}/cmake/EmbedPage.cmake"
  COMMENT "Putting the page of a profile together")
target_sources(baton_core PRIVATE "${page_file}")

install(TARGETS baton_core LIBRARY DESTINATION lib)
