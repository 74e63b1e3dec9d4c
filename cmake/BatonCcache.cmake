# ccache, when it is there, in front of the compiler. Paths under the source folder are hashed relative to it, so a
# second clone finds what the first has compiled; the sloppiness is what ccache's manual asks for with precompiled
# headers. Comments are hashed, too: GCC tells by the bytes of a header whether `#pragma once` holds for it within a
# precompiled one, so that one from before a change of a comment would define everything twice. The namespace keeps
# what a cache holds from before comments were hashed from being found: ccache's direct mode would.

option(BATON_CCACHE "Put ccache in front of the compiler when it is installed" ON)

if(BATON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(BATON_CCACHE_PROGRAM ccache)
  find_program(BATON_ENV_PROGRAM env)
  mark_as_advanced(BATON_CCACHE_PROGRAM BATON_ENV_PROGRAM)
  if(BATON_CCACHE_PROGRAM AND BATON_ENV_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${BATON_ENV_PROGRAM}"
        "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
        CCACHE_NOHASHDIR=1
        CCACHE_COMMENTS=1
        CCACHE_NAMESPACE=baton-with-comments
        CCACHE_SLOPPINESS=pch_defines,time_macros
        "${BATON_CCACHE_PROGRAM}")
  endif()
endif()
