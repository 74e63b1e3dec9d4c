#pragma once
#include <string>

namespace baton {

/// What the store calls this machine: $BATON_MACHINE, else the host's name.
std::string machine_name();

}  // namespace baton
