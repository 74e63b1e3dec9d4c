#include "baton/predict/kernel_facts.h"

namespace baton {

namespace {

// Peaks are measured: some kernel may be a little faster.
constexpr double kMeasured = 1.1;
// A library may compute a convolution by fewer multiplications than are counted, at most so many times fewer.
constexpr double kLibraryMultiplies = 4;

}  // namespace

std::string kind_of_kernel(const KernelCase& kernel) {
  const DescribedOperator* anchor = kernel.kernel.anchored();
  return std::string(anchor && anchor->op ? cost_class(*anchor->op) : "other");
}

std::string kind_name(const std::string& kind) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"conv", "convolutions"}, {"dense", "dense layers and products"}, {"pool", "pools"},
      {"reduce", "reductions"}, {"elementwise", "elementwise kernels"}, {"move", "kernels that move data"}};
  for (const auto& [name, shown] : kNames)
    if (name == kind) return std::string(shown);
  return "kernels of other operators";
}

double least_us(const KernelCase& kernel) {
  const KernelFacts facts(kernel);
  const double multiplies = 2 * facts.winograd.multiplies;
  double operations = multiplies > 0 ? std::min(multiplies, kernel.kernel.flops) : kernel.kernel.flops;
  if (facts.kind == "conv" && !knows_schedules(kernel.backend)) operations /= kLibraryMultiplies;
  // Peaks are of float32: vectors of smaller elements have more of them.
  const double narrow = std::max(1.0, 4.0 / std::max(1.0, static_cast<double>(facts.dtype().bytes())));
  return std::max(operations / (kMeasured * narrow * facts.rates.gflops),
                  kernel.kernel.bytes / (2 * facts.rates.cache_gbytes)) /
         1e3;
}

}  // namespace baton
