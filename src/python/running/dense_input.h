#pragma once
// Arrays of the host as Python gives them: numpy, DLPack.
#include <nanobind/ndarray.h>

#include "baton/support/base/ndarray.h"

namespace baton::python {

/// Row-major without gaps; it may be read-only.
using DenseInput = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

/// The memory of `input`, which must outlive the view. It is only to be read.
NDArray view_of_input(const DenseInput& input);

}  // namespace baton::python
