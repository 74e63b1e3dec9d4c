#pragma once
// A setting of the environment with another value, for one test.
#include <string>
#include <utility>

#include "baton/support/base/environment.h"

namespace baton {

class ChangedSetting {
 public:
  /// ChangedSetting changed(&Environment::linker, "/nowhere/ld");
  ChangedSetting(std::string Environment::* setting, std::string value) : before_(*environment()) {
    Environment changed = before_;
    changed.*setting = std::move(value);
    set_environment(std::move(changed));
  }
  ~ChangedSetting() { set_environment(before_); }
  ChangedSetting(const ChangedSetting&) = delete;
  ChangedSetting& operator=(const ChangedSetting&) = delete;

 private:
  Environment before_;
};

}  // namespace baton
