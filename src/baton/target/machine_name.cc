#include "baton/target/machine_name.h"

#include <array>

#include <unistd.h>

#include "baton/support/base/environment.h"

namespace baton {

std::string machine_name() {
  if (const std::string given = environment()->machine; !given.empty()) return given;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || !name[0]) return "unknown";
  return name.data();
}

}  // namespace baton
