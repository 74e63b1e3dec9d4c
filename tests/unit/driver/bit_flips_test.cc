#include "driver/bit_flips.h"

#include <gtest/gtest.h>

#include "codegen/kernels.h"

namespace baton {
namespace {

/// Single bits, at random but the same in every run; bench/bars/integrity.cc flips 10,000.
TEST(BitFlips, AreRefusedOrMeanNothing) {
  const test::Folder folder;
  test::FlipSubjects subjects(folder.path());
  constexpr int kFlips = 200;
  const auto check = [&](const char* what, const test::FlipCounts& counts, int least_refused) {
    EXPECT_EQ(counts.other, 0) << what << ": first at bit " << counts.first_other;
    EXPECT_GE(counts.refused, least_refused) << what;
    EXPECT_EQ(counts.refused + counts.same + counts.other, kFlips) << what;
  };
  check("artifact", subjects.artifact(kFlips), kFlips / 4);  // much of a small one is padding
  check("npz", subjects.npz(kFlips), kFlips * 9 / 10);
  check("params", subjects.params(kFlips), kFlips);
  check("cache entry", subjects.cache_entry(kFlips), kFlips);
}

}  // namespace
}  // namespace baton
