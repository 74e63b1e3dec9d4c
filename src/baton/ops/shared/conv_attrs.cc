#include "baton/ops/shared/conv_attrs.h"

#include "baton/support/error.h"

namespace baton {

template <>
const AttrSchema& attr_schema<Conv2DAttrs>() {
  static const AttrSchema schema =
      make_schema<Conv2DAttrs>("relay.attrs.Conv2DAttrs", conv2d_fields<Conv2DAttrs>());
  return schema;
}

std::optional<Padding2D> padding_2d(const std::vector<int64_t>& p) {
  switch (p.size()) {
    case 1:
      return Padding2D{p[0], p[0], p[0], p[0]};
    case 2:
      return Padding2D{p[0], p[1], p[0], p[1]};
    case 4:
      return Padding2D{p[0], p[1], p[2], p[3]};
    default:
      return std::nullopt;
  }
}

void check_groups(int64_t groups, int64_t in_channels, int64_t out_channels) {
  if (in_channels % groups == 0 && out_channels % groups == 0) return;
  throw Error("a convolution of " + std::to_string(in_channels) + " channels to " +
              std::to_string(out_channels) + " cannot be split into " + std::to_string(groups) +
              " groups: groups must divide both");
}

void check_filled_blocks(int64_t out_channels, int64_t weight_channels) {
  if (out_channels <= weight_channels) return;
  throw NotSupported("a convolution to " + std::to_string(weight_channels) +
                     " channels, which do not fill the blocks of out_layout: they hold " +
                     std::to_string(out_channels));
}

}  // namespace baton
