#pragma once
#include <string>

namespace baton {

/// What reports and the store call this machine: $BATON_MACHINE, else the host's name.
std::string machine_name();

}  // namespace baton
