#pragma once
// A test over a list that takes too long for one test: each part takes every so-and-so-many-th case.
#include <cstddef>

#include <gtest/gtest.h>

namespace baton {

template <size_t kParts>
class InParts : public ::testing::TestWithParam<size_t> {
 protected:
  static bool is_mine(size_t index) { return index % kParts == GetParam(); }
};

}  // namespace baton

/// `suite`: derived from InParts<parts>.
#define BATON_TEST_IN_PARTS(suite, parts) \
  INSTANTIATE_TEST_SUITE_P(Part, suite, ::testing::Range(size_t{0}, size_t{parts}))
