#pragma once
#include <string>

#include "baton/driver/mapping/mapping.h"

namespace baton {

/// Where an operator sits, what it would cost elsewhere, and what would have to change for it to move.
std::string alternatives_text(const MappedOperator& mapped);

}  // namespace baton
