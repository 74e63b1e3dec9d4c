#pragma once
// Splits stages by sampling the kernel (design D4, method C), where markers distort it.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/pass/build_context.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/profile/inside/inside_variants.h"

namespace baton {

/// The shares of the stages of `plain`, called repeatedly for `ms` milliseconds. Nullopt with the reason in
/// `why` when sampling is not possible.
std::optional<std::vector<SampledShare>> sampled_shares(const Variant& plain, std::span<void*> args,
                                                        double ms, const BuildContext& context,
                                                        std::string& why);

}  // namespace baton
