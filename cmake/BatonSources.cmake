# Sources are found by folder: a new file needs no edit here, and a folder may come later than this line.

# baton_sources(<out> <pattern> <folder>...): all files of that pattern below the folders, relative to the source root.
function(baton_sources out pattern)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/${pattern}")
    list(APPEND found ${files})
  endforeach()
  list(SORT found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

option(BATON_PCH "Precompile the headers that most files read (off: shows an include that is missing in a file)" ON)

# What most files of the compiler read. In angle brackets: the list is then the same text in every clone, and ccache
# finds what another one has compiled.
set(baton_common_headers <algorithm> <atomic> <cmath> <cstdint> <cstdio> <cstring> <functional> <map> <memory> <mutex>
    <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <unordered_map> <unordered_set>
    <utility> <variant> <vector> <baton/ir/expr.h>)

# baton_pch(<target> <header>...): compiles the headers once for all files of the target.
function(baton_pch target)
  if(BATON_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    baton_pch_flags(${target})
  endif()
endfunction()

# baton_pch_of(<target> <other>): takes the precompiled headers of another target, which must have the same flags.
function(baton_pch_of target other)
  if(BATON_PCH)
    target_precompile_headers(${target} REUSE_FROM ${other})
    baton_pch_flags(${target})
  endif()
endfunction()

function(baton_pch_flags target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # lets ccache see through the precompiled header
  endif()
endfunction()

set(BATON_UNITY_BATCH 10 CACHE STRING "Files compiled together at most")
option(BATON_UNITY "Compile the files of one folder together, some at a time: a build from nothing takes a third" ON)

# baton_unity(<target>): batches of files of one folder. Names in anonymous namespaces must differ within a folder. Files
# with an optimisation level of their own are compiled one by one; files that open a namespace for themselves (`using
# namespace gradients;`) are compiled with those that open the same one.
function(baton_unity target)
  if(NOT BATON_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "^${CMAKE_SOURCE_DIR}/(src|tests|tools)/.*\\.cc$")
      continue()
    endif()
    file(STRINGS "${source}" special REGEX "^(#pragma GCC optimize|using namespace )")
    if(special MATCHES "#pragma")
      continue()
    endif()
    get_filename_component(folder "${source}" DIRECTORY)
    string(REPLACE "${CMAKE_SOURCE_DIR}/" "" folder "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(special MATCHES "using namespace ([a-z_]+)")
      string(APPEND folder "_${CMAKE_MATCH_1}")
    endif()
    if(NOT DEFINED files_of_${folder})
      set(files_of_${folder} 0)
    endif()
    math(EXPR batch "${files_of_${folder}} / ${BATON_UNITY_BATCH}")
    math(EXPR files_of_${folder} "${files_of_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${batch}")
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class of a .cc file that holds types of its anonymous namespace looks to g++ as if a header declared it.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
endfunction()
