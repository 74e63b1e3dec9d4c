#include "baton/support/version.h"

namespace baton {

std::string_view version() { return BATON_VERSION; }

}  // namespace baton
