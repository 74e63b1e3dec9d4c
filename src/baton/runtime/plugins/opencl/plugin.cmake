# Only headers: the loader libOpenCL.so.1 is opened when the plug-in is first used.
find_path(OPENCL_INCLUDE_DIR CL/cl.h)
if(NOT OPENCL_INCLUDE_DIR)
  set(plugin_missing "there is no CL/cl.h (Debian: ocl-icd-opencl-dev)")
endif()
set(plugin_installed ON)
