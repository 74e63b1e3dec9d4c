#pragma once
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/type.h"

namespace baton {

/// The shape that `newshape` denotes for data of shape `data`; nullopt with the reason in `why` when invalid.
std::optional<std::vector<Dim>> reshaped(const std::vector<Dim>& data, const std::vector<int64_t>& newshape,
                                         bool allowzero, std::string* why);

}  // namespace baton
