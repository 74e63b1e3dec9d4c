#include "baton/ops/vision/extent.h"

namespace baton {

std::optional<Dim> result_extent(RelationContext& ctx, int arg, std::initializer_list<Dim> dims) {
  int64_t all = 1;
  bool any = false;
  for (const Dim& dim : dims) {
    if (dim.is_any()) {
      any = true;
    } else if (__builtin_mul_overflow(all, dim.value(), &all)) {
      fail_arg(ctx, arg, "the result is too large for data of type " + type_text(ctx.input(arg)));
      return std::nullopt;
    }
  }
  return any ? Dim::any() : Dim(all);
}

}  // namespace baton
