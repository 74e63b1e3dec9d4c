#pragma once
// Symbolic extents as Python objects; below the casters, which attribute values need.
#include <nanobind/nanobind.h>

#include "baton/ir/extent.h"

namespace nb = nanobind;

namespace baton::python {

/// `?`
struct AnyDim {};

/// A symbolic extent; == is identity of extents. The classes below it are TVM's.
struct SymbolicExtent {
  Dim dim = 0;
};
struct VarExtent : SymbolicExtent {};
struct SizeVarExtent : VarExtent {};
struct AddExtent : SymbolicExtent {};
struct SubExtent : SymbolicExtent {};
struct MulExtent : SymbolicExtent {};
struct FloorDivExtent : SymbolicExtent {};

/// The classes of numbers that Python sees: subclasses of int and float with `value` and `dtype`
/// (baton._numbers).
void set_number_classes(nb::object integer, nb::object real);
nb::object integer_to_python(int64_t value);
nb::object real_to_python(double value);

/// An int (of that class), an AnyDim or, of the class of its outermost operation, a SymbolicExtent.
nb::object extent_to_python(Dim dim);

}  // namespace baton::python
