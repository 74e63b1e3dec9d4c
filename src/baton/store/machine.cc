#include "baton/store/machine.h"

#include <array>
#include <cstdlib>

#include <unistd.h>

namespace baton {

std::string machine_name() {
  if (const char* given = std::getenv("BATON_MACHINE"); given && *given) return given;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || !name[0]) return "unknown";
  return name.data();
}

}  // namespace baton
