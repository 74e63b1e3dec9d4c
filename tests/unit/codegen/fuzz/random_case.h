#pragma once
// Random cases for the kernel fuzzer: calls of `.test_shapes`, their extents, element types, attributes and
// layouts changed at random, alone or in chains that may fuse.
#include <cstdint>

#include "codegen/fuzz/kernel_case.h"
#include "ops/test_shapes.h"

namespace baton::fuzz {

/// The case of that seed: the same on every machine. Well typed, and small enough to be computed in a second;
/// where no change of the chosen call is, the call itself.
KernelCase random_case(uint64_t seed);

/// The calls of `.test_shapes` of all operators with a compute.
std::vector<CaseCall> base_calls();

/// After a change of `tensor`'s shape: values listed one by one become a range when their count is no longer
/// right; integers that may be positions stay below `extent`.
void keep_values_valid(CaseTensor& tensor, int64_t extent);

/// The typed function and its inputs. Throws as test_chain() does.
test::TestCase build_case(const KernelCase& chain);

/// Whether the function is one that kernels are compiled for, and small enough. `why`: what it lacks;
/// `dynamic`: results may have unknown extents.
bool is_usable(const test::TestCase& built, std::string* why = nullptr, bool dynamic = false);

}  // namespace baton::fuzz
