#pragma once
#include <ostream>

#include "baton/profile/report/rows.h"

namespace baton {

/// Every operator's three times side by side: by itself, its kernels, and its part of those. Prints nothing
/// when neither the first nor the last was measured.
void write_operators(std::ostream& out, const ProfileReport& report);

}  // namespace baton
