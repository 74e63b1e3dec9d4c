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

set(BATON_UNITY_KB 50 CACHE STRING "Kilobytes of files compiled together, about")
option(BATON_UNITY "Compile the files of one folder together, some at a time: a build from nothing takes a third" ON)

# A batch costs some seconds for its headers and templates, however small it is.
set(BATON_UNITY_LEAST_KB 16 CACHE STRING "The files of smaller folders are compiled with those of their parent folder")

# baton_add(<variable> <number>): adds to a variable, which need not exist.
macro(baton_add variable number)
  if(DEFINED ${variable})
    math(EXPR ${variable} "${${variable}} + ${number}")
  else()
    set(${variable} ${number})
  endif()
endmacro()

# baton_unity(<target> [SEPARATE]): batches of files of one folder, and of the small folders below it unless they are to be
# SEPARATE. Names in anonymous namespaces must differ among these. Files with an optimisation level of their own are compiled one by one; files that open a
# namespace for themselves (`using namespace gradients;`) are compiled with those that open the same one.
function(baton_unity target)
  if(NOT BATON_UNITY)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 given "SEPARATE" "" "")
  get_target_property(sources ${target} SOURCES)
  set(together "")
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
    set(opened "")
    if(special MATCHES "using namespace ([a-z_]+)")
      set(opened "_${CMAKE_MATCH_1}")
    endif()
    file(SIZE "${source}" bytes)
    list(APPEND together "${source}|${folder}|${opened}|${bytes}")
    baton_add(bytes_of_${folder} ${bytes})
  endforeach()
  # First what each group of folders has in all, then as many batches of the same size as that needs.
  math(EXPR most "${BATON_UNITY_KB} * 1024")
  math(EXPR least "${BATON_UNITY_LEAST_KB} * 1024")
  foreach(pass IN ITEMS sum divide)
    foreach(each IN LISTS together)
      string(REPLACE "|" ";" each "${each}")
      list(GET each 0 source)
      list(GET each 1 folder)
      list(GET each 2 opened)
      list(GET each 3 bytes)
      if(bytes_of_${folder} LESS least AND NOT given_SEPARATE)
        get_filename_component(folder "${folder}" DIRECTORY)
      endif()
      string(MAKE_C_IDENTIFIER "${folder}${opened}" group)
      if(pass STREQUAL "sum")
        baton_add(bytes_of_group_${group} ${bytes})
        set(bytes_before_${group} 0)
      else()
        math(EXPR size "${bytes_of_group_${group}} / ((${bytes_of_group_${group}} + ${most} - 1) / ${most}) + 1")
        math(EXPR batch "${bytes_before_${group}} / ${size}")
        baton_add(bytes_before_${group} ${bytes})
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}_${batch}")
      endif()
    endforeach()
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class of a .cc file that holds types of its anonymous namespace looks to g++ as if a header declared it.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
endfunction()
