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

option(BATON_PCH "Precompile Halide.h and GoogleMock (off: shows an include that is missing in a file)" ON)

# baton_pch(<target> <header>...): compiles the headers once for all files of the target (Halide.h takes 1.1 s).
function(baton_pch target)
  if(BATON_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)  # lets ccache see through the precompiled header
    endif()
  endif()
endfunction()
