#include "baton/byoc/external.h"

#include <map>

namespace baton {

namespace {

std::map<std::string, OptimizeRegion>& optimizers() {
  static std::map<std::string, OptimizeRegion> optimizers;
  return optimizers;
}

}  // namespace

void set_region_optimizer(const std::string& compiler, OptimizeRegion optimize) {
  if (optimize)
    optimizers()[compiler] = std::move(optimize);
  else
    optimizers().erase(compiler);
}

const OptimizeRegion* find_region_optimizer(const std::string& compiler) {
  const auto at = optimizers().find(compiler);
  return at == optimizers().end() ? nullptr : &at->second;
}

bool any_region_optimizer() { return !optimizers().empty(); }

}  // namespace baton
