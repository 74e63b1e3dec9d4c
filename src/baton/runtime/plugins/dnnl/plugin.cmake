# oneDNN 3, from the wheels in the environment of the Python that builds.
baton_python_query("import sys; print(sys.prefix)" python_prefix)
find_path(BATON_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp HINTS "${python_prefix}/include" NO_DEFAULT_PATH)
find_library(BATON_DNNL_LIBRARY NAMES libdnnl.so.3 HINTS "${python_prefix}/lib" NO_DEFAULT_PATH)
mark_as_advanced(BATON_DNNL_INCLUDE_DIR BATON_DNNL_LIBRARY)
if(BATON_DNNL_INCLUDE_DIR AND BATON_DNNL_LIBRARY)
  set(plugin_includes "${BATON_DNNL_INCLUDE_DIR}")
  # Its threads are those of GNU's OpenMP, which it links itself.
  set(plugin_libraries "${BATON_DNNL_LIBRARY}" gomp)
  # In a wheel: baton/lib lies in lib/python3.X/site-packages, and libdnnl.so.3 in lib.
  set(plugin_installed ON)
  set(plugin_rpath "$ORIGIN/../../../..")
else()
  set(plugin_missing "the wheels onednn-cpu-gomp and onednn-devel-cpu-gomp are not installed")
endif()
