# libbaton_runtime.so: loads and runs what the compiler made. Ships without the compiler; no exceptions, no RTTI.

baton_sources(runtime_sources "*.cc" src/baton/support/base src/baton/runtime)
list(FILTER runtime_sources EXCLUDE REGEX "/src/baton/runtime/plugins/")
if(runtime_sources)
  # The shim that is linked into every library of kernels: compiled by hand, since it must carry none of our flags
  # (sanitizers, line tables) into users' files.
  set(shim_source "${CMAKE_SOURCE_DIR}/src/baton/support/base/kernel_shim.c")
  set(shim_object "${CMAKE_BINARY_DIR}/generated/kernel_shim.o")
  set(shim_embedded "${CMAKE_BINARY_DIR}/generated/kernel_shim.cc")
  add_custom_command(
    OUTPUT "${shim_embedded}"
    COMMAND "${CMAKE_CXX_COMPILER}" -x c -std=c11 -O2 -fPIC -ffreestanding -fno-stack-protector "-I${CMAKE_SOURCE_DIR}/src"
            -fno-asynchronous-unwind-tables -Wall -Wextra -Werror -c "${shim_source}" -o "${shim_object}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${shim_object}" "-DSOURCE=${shim_source}"
            "-DHEADER=${CMAKE_SOURCE_DIR}/src/baton/support/base/kernel_table.h" "-DOUTPUT=${shim_embedded}" -P "${CMAKE_SOURCE_DIR}/cmake/EmbedShim.cmake"
    DEPENDS "${shim_source}" "${CMAKE_SOURCE_DIR}/src/baton/support/base/kernel_table.h"
            "${CMAKE_SOURCE_DIR}/cmake/EmbedShim.cmake"
    COMMENT "Embedding the kernel shim" VERBATIM)

  add_library(baton_runtime SHARED ${runtime_sources} "${shim_embedded}")
  target_include_directories(baton_runtime PUBLIC "${CMAKE_SOURCE_DIR}/src"
                                           PRIVATE "${BATON_HALIDE_ROOT}/include")  # HalideRuntime.h only
  target_compile_options(baton_runtime PRIVATE -fno-exceptions)
  if(NOT BATON_SANITIZE)
    # Where `vptr` is checked, what the runtime made must have a type: it hands std::shared_ptr to the rest.
    target_compile_options(baton_runtime PRIVATE -fno-rtti)
  endif()
  # Its threads run until the process ends: it must never be unloaded.
  target_link_options(baton_runtime PRIVATE -Wl,-z,nodelete)
  target_link_libraries(baton_runtime PRIVATE baton_options Threads::Threads
                                              ${CMAKE_DL_LIBS})
  baton_unity(baton_runtime)
  install(TARGETS baton_runtime LIBRARY DESTINATION lib)
endif()

# What the author of a backend includes: C headers.
foreach(header codegen/baton_compiler.h runtime/baton_backend.h support/base/kernel_table.h)
  get_filename_component(header_folder "${header}" DIRECTORY)
  install(FILES "${CMAKE_SOURCE_DIR}/src/baton/${header}" DESTINATION "include/baton/${header_folder}")
endforeach()

# Run halves of backends: every folder of runtime/plugins is one shared library, which the runtime finds by name beside
# its own. They know baton_backend.h only, and link neither the runtime nor the compiler.
file(GLOB plugin_folders CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/baton/runtime/plugins/*")
add_custom_target(baton_plugins)
# The runtime says of those that are not installed how they are built: " cuda dnnl ".
if(TARGET baton_runtime)
  set(plugin_names " ")
  foreach(folder IN LISTS plugin_folders)
    get_filename_component(name "${folder}" NAME)
    string(APPEND plugin_names "${name} ")
  endforeach()
  target_compile_definitions(baton_runtime PRIVATE "BATON_PLUGINS=\"${plugin_names}\"")
endif()
# Everything that `cmake --install` puts into a wheel.
add_custom_target(baton_installed)
foreach(folder IN LISTS plugin_folders)
  get_filename_component(name "${folder}" NAME)
  # What a plug-in needs of others, and whether it is installed, is said in its own folder.
  set(plugin_includes "")
  set(plugin_libraries "")
  set(plugin_missing "")
  set(plugin_installed OFF)
  set(plugin_rpath "")  # where an installed one finds what it needs
  include("${folder}/plugin.cmake" OPTIONAL)
  if(plugin_missing)
    message(STATUS "The plug-in ${name} is not built: ${plugin_missing}")
    continue()
  endif()
  baton_sources(plugin_sources "*.cc" "src/baton/runtime/plugins/${name}")
  add_library(baton_plugin_${name} MODULE EXCLUDE_FROM_ALL ${plugin_sources})
  target_include_directories(baton_plugin_${name} PRIVATE "${CMAKE_SOURCE_DIR}/src")
  target_include_directories(baton_plugin_${name} SYSTEM PRIVATE ${plugin_includes})
  target_link_libraries(baton_plugin_${name} PRIVATE baton_options Threads::Threads ${CMAKE_DL_LIBS}
                                                     ${plugin_libraries})
  add_dependencies(baton_plugins baton_plugin_${name})
  if(plugin_installed)
    set_target_properties(baton_plugin_${name} PROPERTIES EXCLUDE_FROM_ALL OFF
                                                          INSTALL_RPATH "${CMAKE_INSTALL_RPATH};${plugin_rpath}")
    add_dependencies(baton_installed baton_plugin_${name})
    install(TARGETS baton_plugin_${name} LIBRARY DESTINATION lib)
  endif()
endforeach()
