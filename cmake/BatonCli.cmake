# The program `baton`.

baton_sources(cli_sources "*.cc" src/baton/cli)
list(FILTER cli_sources EXCLUDE REGEX "/src/baton/cli/lab/")
add_executable(baton ${cli_sources})
target_link_libraries(baton PRIVATE baton_options baton_core CLI11::CLI11)
# Compiled like the library (-fPIC, not -fPIE), so that it can share its precompiled headers.
set_target_properties(baton PROPERTIES POSITION_INDEPENDENT_CODE OFF ENABLE_EXPORTS ON DEFINE_SYMBOL "")  # the verbs of the laboratory use it
target_compile_options(baton PRIVATE -fPIC)
baton_cold_code(baton)
baton_pch_of(baton baton_headers)
baton_unity(baton)
install(TARGETS baton RUNTIME DESTINATION bin)
