#include "baton/byoc/external.h"

#include "baton/support/registry.h"

namespace baton {

namespace {

// Never destroyed: they hold Python functions, and the interpreter may be gone at process exit.
Registry<OptimizeRegion>& optimizers() {
  static auto& all = *new Registry<OptimizeRegion>;
  return all;
}

}  // namespace

void set_region_optimizer(const std::string& compiler, OptimizeRegion optimize) {
  if (optimize)
    optimizers().set(compiler, std::move(optimize));
  else
    optimizers().remove(compiler);
}

std::shared_ptr<const OptimizeRegion> find_region_optimizer(const std::string& compiler) {
  return optimizers().find(compiler);
}

bool any_region_optimizer() { return !optimizers().empty(); }

}  // namespace baton
