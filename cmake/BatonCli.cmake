# The program `baton`.

baton_sources(cli_sources "*.cc" src/baton/cli)
add_executable(baton ${cli_sources})
target_link_libraries(baton PRIVATE baton_options baton_core CLI11::CLI11)
baton_unity(baton)
install(TARGETS baton RUNTIME DESTINATION bin)
