#pragma once
// LayoutConfig(skip_layers): while it is entered, ConvertLayout leaves some of the nn.conv2d that it meets as
// they are.
#include <cstdint>
#include <vector>

namespace baton {

/// Enters a config of this thread: the convolutions of these numbers, counted from 0 as they are met, are
/// skipped.
void enter_layout_config(const std::vector<int64_t>& skip_layers);
void exit_layout_config();
/// The innermost config counts from 0 again.
void reset_layout_config();

/// Counts one convolution of the innermost config; whether it is to be skipped.
bool layout_config_skips();

}  // namespace baton
