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

/// An int, an AnyDim or, of the class of its outermost operation, a SymbolicExtent.
nb::object extent_to_python(Dim dim);

}  // namespace baton::python
