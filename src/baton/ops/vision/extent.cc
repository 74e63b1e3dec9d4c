#include "baton/ops/vision/extent.h"

#include "baton/ir/extent.h"

namespace baton {

std::optional<Dim> result_extent(RelationContext& ctx, int arg, std::initializer_list<Dim> dims) {
  int64_t all = 1;
  Dim any = 1;  // the product of those that are no numbers
  for (const Dim& dim : dims) {
    if (dim.is_any()) {
      any = any * dim;
    } else if (__builtin_mul_overflow(all, dim.value(), &all)) {
      fail_arg(ctx, arg, "the result is too large for data of type " + type_text(ctx.input(arg)));
      return std::nullopt;
    }
  }
  return any * all;
}

}  // namespace baton
