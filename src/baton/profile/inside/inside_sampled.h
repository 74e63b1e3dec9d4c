#pragma once
// Where markers do not tell the truth: stages by sampling the kernel itself (design D4, method C).
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/pass/build_context.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/profile/inside/inside_variants.h"

namespace baton {

/// The shares of the stages of `plain`, called again and again for `ms`. Nothing where it cannot be done;
/// then `why` says why.
std::optional<std::vector<SampledShare>> sampled_shares(const Variant& plain, std::span<void*> args,
                                                        double ms, const BuildContext& context,
                                                        std::string& why);

}  // namespace baton
