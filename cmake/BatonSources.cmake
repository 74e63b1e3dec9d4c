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

# baton_halide_pch(<target>): compiles Halide.h once for all files of the target (1.1 s each otherwise).
function(baton_halide_pch target)
  target_link_libraries(${target} PRIVATE Halide::Halide)
  target_precompile_headers(${target} PRIVATE <Halide.h>)
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # lets ccache see through the precompiled header
endfunction()
