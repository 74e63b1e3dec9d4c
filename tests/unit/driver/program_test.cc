#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/interpreter/value_exprs.h"
#include "baton/ir/analysis/constructors.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"

#include "small_stack.h"

namespace baton::program {
namespace {

InterpretedProgram made(const std::string& text) {
  initialize();
  return {parse_module("#[version = \"0.0.5\"]\n" + text), optimize, host_context()};
}

Value run(const InterpretedProgram& program, const std::vector<Value>& args) {
  return program.run(args, host_context());
}

Value number(int32_t value) {
  return tensor_value(NDArray::of<int32_t>({}, std::vector<int32_t>{value}, DType::int_(32)));
}

int32_t number_of(const Value& value) { return as_value<TensorValue>(value)->array().as<int32_t>()[0]; }

const char* const kFactorial = R"(
def @f(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @f(subtract(%n, 1))) } }
def @main(%n: int32) -> int32 { @f(%n) })";

TEST(InterpretedProgram, Recursion) { EXPECT_EQ(number_of(run(made(kFactorial), {number(6)})), 720); }

TEST(InterpretedProgram, ArgumentsAreChecked) {
  const InterpretedProgram factorial = made(kFactorial);
  EXPECT_THROW(run(factorial, {}), Error);
  EXPECT_THROW(run(factorial, {tuple_value({})}), Error);
  EXPECT_THROW(run(factorial, {tensor_value(NDArray::zeros({2}, DType::int_(32)))}), Error);
}

TEST(InterpretedProgram, DeepRecursionNeedsNoStack) {
  const InterpretedProgram deep = made(R"(
def @deep(%i: int32) -> int32 { if (equal(%i, 0)) { 0 } else { add(1, @deep(subtract(%i, 1))) } }
def @main(%n: int32) -> int32 { @deep(%n) })");
  on_8_mb_stack([&] { EXPECT_EQ(number_of(run(deep, {number(5000)})), 5000); });
}

TEST(InterpretedProgram, EndlessRecursionIsAnError) {
  const InterpretedProgram endless = made(
      "def @f(%n: int32) -> int32 { let %r = @f(%n); add(%r, %r) }\ndef @main(%n: int32) -> int32 { @f(%n) "
      "}");
  EXPECT_THROW(run(endless, {number(1)}), Error);
}

TEST(InterpretedProgram, ACellThatHoldsItselfThroughAFunctionIsEmptied) {
  const InterpretedProgram knot = made(R"(
def @main(%c: ref(ref(int32))) {
  let %r = ref(fn (%i: int32) -> int32 { %i });
  let %u = ref_write(%r, fn (%i: int32) -> int32 { let %g = ref_read(%r); let %own = ref_read(ref_read(%c)); add(%own, %g(%i)) });
  ref_write(%c, ref(1))
})");
  const auto inner = make_ref<const CellValue>(number(5));
  const auto cell = make_ref<const CellValue>(Value(inner));
  run(knot, {cell});
  EXPECT_EQ(inner->use_count(), 1u);  // nothing that the run left behind holds it
  ASSERT_TRUE(as_value<CellValue>(cell->value()));
  EXPECT_EQ(number_of(as_value<CellValue>(cell->value())->value()), 1);  // what an argument holds is kept
}

TEST(InterpretedProgram, ValuesAsExpressions) {
  Value list = make_ref<const DataValue>(0, std::vector<Value>(), ConstructorRef());
  EXPECT_THROW(expr_of(list), Error);
  const ConstructorRef cons =
      info_of(make_ref<const ConstructorNode>("Cons", std::vector<Type>(), global_type_var("List"), 0));
  list = make_ref<const DataValue>(0, std::vector<Value>(), cons);
  for (int i = 0; i < 100'000; ++i)
    list = make_ref<const DataValue>(0, std::vector<Value>{number(i), list}, cons);
  on_8_mb_stack([&] {
    const Expr expr = expr_of(list);
    EXPECT_EQ(as<CallNode>(expr)->args().size(), 2u);
  });
  const auto cell = make_ref<const CellValue>(number(1));
  cell->write(tuple_value({cell}));
  EXPECT_THROW(expr_of(cell), Error);
  cell->write({});
}

}  // namespace
}  // namespace baton::program
