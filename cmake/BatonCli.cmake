# The program `baton`.

baton_sources(cli_sources "*.cc" src/baton/cli)
add_executable(baton ${cli_sources})
target_link_libraries(baton PRIVATE baton_options baton_core CLI11::CLI11)
# Compiled like the library (-fPIC, not -fPIE), so that it can share its precompiled headers.
set_target_properties(baton PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(baton PRIVATE -fPIC)
baton_cold_code(baton)
baton_pch_of(baton baton_headers)
baton_unity(baton)
install(TARGETS baton RUNTIME DESTINATION bin)
