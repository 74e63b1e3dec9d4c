# The program `baton-runner`: measures bundles with the runtime alone, so that it can be compiled for machines
# without the compiler: of other libraries it needs headers only.

# What the laboratory and the runner share.
baton_sources(measuring_sources "*.cc" src/baton/farm/job src/baton/farm/measure)
list(APPEND measuring_sources "${CMAKE_SOURCE_DIR}/src/baton/store/measurement.cc")
add_library(baton_measuring OBJECT ${measuring_sources})
target_include_directories(baton_measuring PUBLIC "${CMAKE_SOURCE_DIR}/src")
target_link_libraries(baton_measuring PRIVATE baton_options)
baton_cold_code(baton_measuring)
baton_unity(baton_measuring)

baton_sources(runner_sources "*.cc" src/baton/runner src/baton/clock)
list(APPEND runner_sources "${CMAKE_SOURCE_DIR}/src/baton/support/json.cc"
     "${CMAKE_SOURCE_DIR}/src/baton/target/device_sheet.cc" "${CMAKE_SOURCE_DIR}/src/baton/target/host_sheet.cc"
     "${CMAKE_SOURCE_DIR}/src/baton/target/machine_name.cc" "${CMAKE_SOURCE_DIR}/src/baton/target/vector_widths.cc")
add_executable(baton-runner ${runner_sources} $<TARGET_OBJECTS:baton_measuring>)
target_link_libraries(baton-runner PRIVATE baton_options baton_runtime Threads::Threads ${CMAKE_DL_LIBS})
baton_cold_code(baton-runner)
baton_unity(baton-runner)
install(TARGETS baton-runner RUNTIME DESTINATION bin)
