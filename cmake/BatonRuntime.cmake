# libbaton_runtime.so: loads and runs what the compiler made. Ships without the compiler; no exceptions, no RTTI.

baton_sources(runtime_sources "*.cc" src/baton/support/base src/baton/runtime)
if(runtime_sources)
  add_library(baton_runtime SHARED ${runtime_sources})
  target_include_directories(baton_runtime PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_compile_options(baton_runtime PRIVATE -fno-exceptions -fno-rtti)
  if(BATON_SANITIZE MATCHES undefined)
    target_compile_options(baton_runtime PRIVATE -fno-sanitize=vptr)  # needs RTTI
  endif()
  target_link_libraries(baton_runtime PRIVATE baton_options Threads::Threads ${CMAKE_DL_LIBS})
  install(TARGETS baton_runtime LIBRARY DESTINATION lib)
endif()
