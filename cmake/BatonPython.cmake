# The Python module `_baton` (src/python, nanobind): build/<preset>/python/_baton.*.so; the package is python/baton.
#
# In a wheel (pyproject.toml) the install prefix is the package: baton/_baton.*.so, baton/lib, baton/bin. What they need of
# each other and of Halide's wheel beside the package is found by the run paths of CMakeLists.txt.

baton_sources(python_sources "*.cc" src/python)
if(python_sources)
  baton_python_query("import nanobind; print(nanobind.cmake_dir())" nanobind_DIR)
  find_package(nanobind CONFIG REQUIRED)
  nanobind_add_module(_baton NB_STATIC NOMINSIZE ${python_sources})
  target_link_libraries(_baton PRIVATE baton_options baton_lab)
  baton_cold_code(_baton)  # each binding is some templates of nanobind's, and calls what has its own flags
  baton_unity(_baton)
  if(BATON_UNITY AND TARGET nanobind-static)
    set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0
                          UNITY_BUILD_RELOCATABLE ON)  # as its nb_combined.cpp has it
  endif()
  set_target_properties(_baton PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/python"
                                          INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/../halide/lib64")
  install(TARGETS _baton LIBRARY DESTINATION .)
  if(SKBUILD)
    install(FILES "${CMAKE_SOURCE_DIR}/python/_baton_command.py" DESTINATION "${SKBUILD_PLATLIB_DIR}")
  endif()
endif()
