#include "baton/profile/views/time_shares.h"

namespace baton {

std::vector<TimeShare> time_shares(const KernelRow& kernel) {
  std::vector<TimeShare> shares;
  for (const Portion& portion : portions(kernel)) {
    const double us = portion.share * kernel.median_us;
    if (portion.id) {
      shares.push_back({{*portion.id}, us, portion.by});
    } else if (portion.by == PortionBy::kOwn && !kernel.made_for.empty()) {
      for (const uint32_t cause : kernel.made_for)
        shares.push_back({{cause}, us / static_cast<double>(kernel.made_for.size()), portion.by});
    } else {
      shares.push_back({kernel.origins, us, portion.by});
    }
  }
  return shares;
}

}  // namespace baton
