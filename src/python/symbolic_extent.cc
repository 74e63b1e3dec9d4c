#include "python/symbolic_extent.h"

namespace baton::python {

namespace {

template <class T>
nb::object wrapped(Dim dim) {
  T made;
  made.dim = dim;
  return nb::cast(made);
}

}  // namespace

nb::object extent_to_python(Dim dim) {
  if (!dim.is_any()) return nb::int_(dim.value());
  if (!dim.is_symbolic()) return nb::cast(AnyDim{});
  if (const ExtentVar* var = as_extent_var(dim))
    return var->is_size ? wrapped<SizeVarExtent>(dim) : wrapped<VarExtent>(dim);
  switch (extent_parts(dim).op) {
    case ExtentOp::kAdd:
      return wrapped<AddExtent>(dim);
    case ExtentOp::kSub:
      return wrapped<SubExtent>(dim);
    case ExtentOp::kMul:
      return wrapped<MulExtent>(dim);
    case ExtentOp::kFloorDiv:
      return wrapped<FloorDivExtent>(dim);
  }
  return nb::none();
}

}  // namespace baton::python
