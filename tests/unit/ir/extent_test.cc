#include "baton/ir/extent.h"

#include <thread>

#include <gtest/gtest.h>

#include "baton/ir/structural.h"

namespace baton {
namespace {

Dim variable(const std::string& name) { return extent_var({name}); }

TEST(Extents, AreOneWordAndNumbersAreThemselves) {
  EXPECT_EQ(sizeof(Dim), 8u);
  for (const int64_t number : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX}) {
    EXPECT_FALSE(Dim(number).is_any());
    EXPECT_EQ(Dim(number).value(), number);
  }
  EXPECT_TRUE(Dim::any().is_any());
  EXPECT_FALSE(Dim::any().is_symbolic());
  const Dim n = variable("n");
  EXPECT_TRUE(n.is_any());
  EXPECT_TRUE(n.is_symbolic());
  EXPECT_NE(n, Dim::any());
  EXPECT_NE(n, variable("n")) << "two variables of one name";
}

TEST(Extents, EqualOnesAreOne) {
  const Dim n = variable("n"), m = variable("m");
  EXPECT_EQ(n + 1, Dim(1) + n);
  EXPECT_EQ(n + 2 - 1, n + 1);
  EXPECT_EQ(n + m, m + n);
  EXPECT_EQ(n - n, Dim(0));
  EXPECT_EQ(n * 0, Dim(0));
  EXPECT_EQ((n + 1) * (m - 2), n * m - n * 2 + m - 2);
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_EQ(n * 2 - n, n);
  EXPECT_NE(n + 1, n + 2);
  EXPECT_NE(n + 1, m + 1);
  EXPECT_EQ(n + Dim::any(), Dim::any());
  EXPECT_EQ(Dim(3) * Dim(4) - Dim(5), Dim(7));
}

TEST(Extents, QuotientsAreRoundedDownAndSimplified) {
  const Dim n = variable("n"), m = variable("m");
  EXPECT_EQ(floor_div(n * 4, 2), n * 2);
  EXPECT_EQ(floor_div(n * 4 + 3, 2), n * 2 + 1);
  EXPECT_EQ(floor_div(n * 4 - 1, 4), n - 1);
  EXPECT_EQ(floor_div(n * 4, 8), floor_div(n, 2));
  EXPECT_EQ(floor_div(n + 5, 2), floor_div(n + 1, 2) + 2);
  EXPECT_EQ(floor_div(Dim(-3), 2), Dim(-2));
  EXPECT_EQ(floor_div(Dim::any(), 2), Dim::any());
  // Against the numbers.
  const auto with = [&](Dim dim, int64_t a, int64_t b) {
    return replace_extent_vars(dim, [&](Dim var) { return Dim(var == n ? a : b); });
  };
  for (int64_t a = 0; a < 9; ++a)
    for (int64_t b = 0; b < 5; ++b)
      for (int64_t by = 1; by < 7; ++by)
        EXPECT_EQ(with(floor_div(n * 6 - m * 3 + 7, by), a, b), floor_div(Dim(6 * a - 3 * b + 7), by));
}

TEST(Extents, TooLargeOnesAreUnknown) {
  const Dim n = variable("n");
  EXPECT_EQ(n * INT64_MAX * 2, Dim::any());
  EXPECT_EQ(n + INT64_MAX + 1, Dim::any());
  EXPECT_EQ(n - INT64_MAX, Dim::any()) << "not to be told from a symbol";
  EXPECT_EQ(n * -INT64_MAX, Dim::any());
  EXPECT_EQ(Dim(INT64_MAX) + 1, Dim::any());
  EXPECT_EQ(Dim(INT64_MIN + 100), Dim::any()) << "no symbol by accident";
  Dim sum = 0;
  for (int i = 0; i < 70; ++i) sum = sum + variable("v" + std::to_string(i));
  EXPECT_EQ(sum, Dim::any());
}

TEST(Extents, Text) {
  const Dim n = variable("n"), m = variable("m");
  EXPECT_EQ(extent_text(n), "n");
  EXPECT_EQ(extent_text(1 + n * 2 - m), "-m + 2*n + 1");
  EXPECT_EQ(extent_text(n * m * 3 - 2), "3*m*n - 2");
  EXPECT_EQ(extent_text(floor_div(n + 1, 2) * 4), "4*((n + 1)//2)");
  EXPECT_EQ(extent_text(Dim::any()), "?");
  EXPECT_EQ(extent_text(7), "7");
  EXPECT_EQ(type_text(tensor_type(std::vector<Dim>{n, n + 1, 3}, DType::float_(32))),
            "Tensor[(n, n + 1, 3), float32]");
}

TEST(Extents, PartsMakeTheExtentAgain) {
  const Dim n = variable("n"), m = variable("m");
  for (const Dim dim : {n + 1, n - 1, n * 2, n * -2, n * m, n * n * m, n + m, n - m, n * 2 + m * 3 - 4,
                        floor_div(n, 3), floor_div(n - 1, 3) * 2 + 1}) {
    const ExtentParts parts = extent_parts(dim);
    EXPECT_EQ(make_extent(parts), dim) << extent_text(dim);
  }
  EXPECT_EQ(extent_type_key(n + 1), "tir.Add");
  EXPECT_EQ(extent_type_key(n - 1), "tir.Sub");
  EXPECT_EQ(extent_type_key(n * 2), "tir.Mul");
  EXPECT_EQ(extent_type_key(floor_div(n, 2)), "tir.FloorDiv");
  EXPECT_EQ(extent_type_key(extent_var({"n", DType::int_(32), true})), "tir.SizeVar");
}

TEST(Extents, AreMadeByManyThreads) {
  const Dim n = variable("n");
  std::vector<Dim> made(8, Dim(0));
  std::vector<std::thread> threads;
  for (Dim& dim : made)
    threads.emplace_back([&dim, n] {
      for (int i = 0; i < 100; ++i) dim = n * i + variable("t") - i;
      dim = n * 12345 + 6;
    });
  for (std::thread& thread : threads) thread.join();
  for (const Dim& dim : made) EXPECT_EQ(dim, made[0]);
}

// ---- Structural equality

Function identity_of(const std::vector<Dim>& first, const std::vector<Dim>& second,
                     const std::vector<Dim>& result) {
  const DType f32 = DType::float_(32);
  const Var x = var("x", tensor_type(first, f32)), y = var("y", tensor_type(second, f32));
  return function({x, y}, Expr(x), tensor_type(result, f32));
}

bool same(const Function& a, const Function& b, bool map_free_vars = false) {
  const bool equal = structural_equal(Expr(a), Expr(b), map_free_vars);
  EXPECT_EQ(equal, structural_equal(Expr(b), Expr(a), map_free_vars));
  if (equal) {
    EXPECT_EQ(structural_hash(Expr(a)), structural_hash(Expr(b)));
  }
  return equal;
}

TEST(Extents, FunctionsAreEqualUpToRenaming) {
  const Dim n = variable("n"), m = variable("m"), k = variable("k");
  const Function one = identity_of({n, 3}, {m}, {n, 3});
  EXPECT_TRUE(same(one, one));
  EXPECT_TRUE(same(one, identity_of({k, 3}, {n}, {k, 3})));
  EXPECT_TRUE(same(one, identity_of({m, 3}, {n}, {m, 3}))) << "exchanged";
  EXPECT_FALSE(same(one, identity_of({n, 3}, {n}, {n, 3}))) << "two variables and one";
  EXPECT_FALSE(same(one, identity_of({n, 3}, {m}, {m, 3}))) << "another result";
  EXPECT_FALSE(same(one, identity_of({n + 1, 3}, {m}, {n, 3})));
  EXPECT_FALSE(same(one, identity_of({4, 3}, {m}, {4, 3})));
  EXPECT_FALSE(same(one, identity_of({Dim::any(), 3}, {m}, {Dim::any(), 3})));
  const Dim wide = extent_var({"n", DType::int_(64)}), size = extent_var({"n", DType::int_(32), true});
  EXPECT_FALSE(same(one, identity_of({wide, 3}, {m}, {wide, 3})));
  EXPECT_FALSE(same(one, identity_of({size, 3}, {m}, {size, 3})));
}

TEST(Extents, SumsAreEqualUpToRenaming) {
  const Dim a = variable("a"), b = variable("b"), z = variable("z"), c = variable("c");
  EXPECT_TRUE(same(identity_of({a, a * 2}, {b}, {a}), identity_of({z, z * 2}, {c}, {z})));
  // The order by names is another one, and a variable is first seen in a sum.
  EXPECT_TRUE(same(identity_of({a * 2 + b}, {a, b}, {}), identity_of({z * 2 + c}, {z, c}, {})));
  EXPECT_FALSE(same(identity_of({a * 2 + b}, {a, b}, {}), identity_of({z * 2 + c}, {c, z}, {})));
  EXPECT_TRUE(
      same(identity_of({a, floor_div(a + 1, 2)}, {}, {}), identity_of({z, floor_div(z + 1, 2)}, {}, {})));
}

TEST(Extents, FreeVariablesAreThemselvesUnlessMapped) {
  const DType f32 = DType::float_(32);
  const Dim n = variable("n"), m = variable("m");
  const Function a = function({}, Expr(var("x", tensor_type(std::vector<Dim>{3}, f32))),
                              tensor_type(std::vector<Dim>{n}, f32));
  const Function b = function({}, a->body(), tensor_type(std::vector<Dim>{m}, f32));
  EXPECT_FALSE(same(a, b));
  EXPECT_TRUE(same(a, b, true));
}

}  // namespace
}  // namespace baton
