// Programs on the virtual machine, beside the interpreter.
#include <algorithm>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/vm/background_kernels.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/runtime/c_api.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/vm/program_blob.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/std_library.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"
#include "driver/program_values.h"
#include "small_stack.h"

namespace baton {
namespace {

using program::as_value;
using program::TensorValue;
using program::Value;
using test::expect_equal;
using test::floats;
using test::number;
using test::number_of;
using test::truth;

IRModule parsed(const std::string& text) {
  initialize();
  return parse_module(text.starts_with("#[version") ? text : "#[version = \"0.0.5\"]\n" + text);
}

std::shared_ptr<RunnableProgram> built(const std::string& text) {
  return RunnableProgram::create(build_program(parsed(text), {.context = host_context()}));
}

Value run(RunnableProgram& program, std::vector<Value> args, const std::string& function = "main") {
  return program.run(function, args, host_context());
}

void expect_as_interpreted(const std::string& text, const std::vector<std::vector<Value>>& calls) {
  SCOPED_TRACE(text);
  const program::InterpretedProgram interpreted(parsed(text), optimize, host_context());
  const auto machine = built(text);
  for (const std::vector<Value>& args : calls)
    expect_equal(run(*machine, args), interpreted.run(args, host_context()));
}

const char* const kFactorial = R"(
def @f(%n: int32) -> int32 { if (less(%n, 1)) { 1 } else { multiply(%n, @f(subtract(%n, 1))) } }
def @main(%n: int32) -> int32 { @f(%n) })";

TEST(VirtualMachine, Recursion) {
  const auto factorial = built(kFactorial);
  EXPECT_EQ(number_of(run(*factorial, {number(6)})), 720);
  EXPECT_EQ(number_of(run(*factorial, {number(3)}, "f")), 6);
  EXPECT_THROW(run(*factorial, {number(3)}, "g"), Error);
}

TEST(VirtualMachine, StraightLineCode) {
  expect_as_interpreted(R"(
def @main(%x: Tensor[(3, 5), float32], %w: Tensor[(4, 5), float32]) {
  let %y = nn.relu(nn.dense(%x, %w, units=4));
  let %z = split(%y, indices_or_sections=2, axis=1);
  (add(%z.0, %z.1), reshape(%y, newshape=[2, 6]), %y, %x)
})",
                        {{floats("x", {3, 5}), floats("w", {4, 5})}});
}

TEST(VirtualMachine, Branches) {
  expect_as_interpreted(R"(
def @main(%c: bool, %x: Tensor[(3, 5), float32]) {
  let %a = add(%x, 1f);
  let %b = if (%c) { let %t = multiply(%a, 2f); nn.relu(%t) } else { subtract(%a, %x) };
  let %d = if (less(sum(%b), 4f)) { (%b, %a) } else { (%a, %b) };
  (%d.0, add(%d.1, %a))
})",
                        {{truth(false), floats("x", {3, 5})}, {truth(true), floats("x", {3, 5})}});
}

TEST(VirtualMachine, ClosuresAndReferences) {
  expect_as_interpreted(R"(
def @twice(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
def @main(%n: int32) {
  let %k = add(%n, 3);
  let %plus = fn (%i: int32) -> int32 { add(%i, %k) };
  let %loop = fn (%i: int32, %acc: int32) -> int32 {
    if (equal(%i, 0)) { %acc } else { %loop(subtract(%i, 1), %plus(%acc)) }
  };
  let %r = ref(%n);
  let %u = ref_write(%r, %loop(%n, 1));
  let %chosen = if (less(%n, 4)) { %plus } else { fn (%i: int32) -> int32 { multiply(%i, %i) } };
  (@twice(%plus, %n), ref_read(%r), %chosen(5), @twice(%chosen, 2))
})",
                        {{number(3)}, {number(10)}});
}

TEST(VirtualMachine, DataTypes) {
  expect_as_interpreted(R"(
type Tree[A] { Node(A, Tree[A], Tree[A]), Leaf, }
def @make(%n: int32) -> Tree[int32] {
  if (less(%n, 1)) { Leaf } else { Node(%n, @make(subtract(%n, 1)), @make(subtract(%n, 2))) }
}
def @sum(%t: Tree[int32]) -> int32 {
  match (%t) { Node(%v, Leaf, Leaf) => %v, Node(%v, %a, %b) => add(%v, add(@sum(%a), @sum(%b))), Leaf => 0, }
}
def @both(%p: (Tree[int32], int32)) -> int32 { match (%p) { (Leaf, %k) => %k, (Node(%v, _, _), %k) => multiply(%v, %k), } }
def @main(%n: int32) {
  let %t = @make(%n);
  (@sum(%t), %t, @both((%t, 3)), @both((Leaf, %n)))
})",
                        {{number(0)}, {number(1)}, {number(6)}});
}

TEST(VirtualMachine, ThePrelude) {
  expect_as_interpreted(std::string(text::kPrelude) + R"(
def @main(%n: int32) {
  let %l = @iterate(fn (%x: List[int32]) -> List[int32] { Cons(%n, %x) }, %n);
  let %m = @map(fn (%x: int32) -> int32 { multiply(%x, 2) }, %l(Nil));
  (@foldl(fn (%a: int32, %b: int32) -> int32 { add(%a, %b) }, 0, %m), @rev(Cons(7, %m)), @length(%m), @hd(Cons(1, %m)))
})",
                        {{number(1)}, {number(4)}});
}

TEST(VirtualMachine, OpenShapes) {
  const std::string dense = R"(
def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(32, 64), float32]) {
  nn.relu(nn.dense(%x, %w, units=32))
})";
  expect_as_interpreted(dense, {{floats("x", {3, 64}), floats("w", {32, 64})},
                                {floats("x", {17, 64}), floats("w", {32, 64})},
                                {floats("x", {1, 64}), floats("w", {32, 64})},
                                {floats("x", {17, 64}), floats("w", {32, 64})}});
  expect_as_interpreted(
      R"(
def @main(%x: Tensor[(?, 4), float32], %y: Tensor[(?, 4), float32]) {
  let %c = concatenate((%x, %y), axis=0);
  let %t = transpose(%c);
  (add(%c, 1f), sum(%t, axis=[1]), reshape(%c, newshape=[-1]), shape_of(%t))
})",
      {{floats("x", {3, 4}), floats("y", {2, 4})}, {floats("x", {1, 4}), floats("y", {9, 4})}});
  expect_as_interpreted(R"(
def @grow(%i: int32, %acc: Tensor[(?, 1), float32]) -> Tensor[(?, 1), float32] {
  if (equal(%i, 0)) { %acc } else { @grow(subtract(%i, 1), concatenate((%acc, cast(reshape(%i, newshape=[1, 1]), dtype="float32")), axis=0)) }
}
def @main(%n: int32, %x: Tensor[(?, 1), float32]) { @grow(%n, %x) })",
                        {{number(5), floats("x", {1, 1})}, {number(0), floats("x", {2, 1})}});
}

TEST(VirtualMachine, DeepRecursion) {
  const auto deep = built(R"(
def @deep(%i: int32) -> int32 { if (equal(%i, 0)) { 0 } else { add(1, @deep(subtract(%i, 1))) } }
def @main(%n: int32) -> int32 { @deep(%n) })");
  on_8_mb_stack([&] { EXPECT_EQ(number_of(run(*deep, {number(1'000'000)})), 1'000'000); });
  deep->set_depth(1000);
  EXPECT_EQ(number_of(run(*deep, {number(900)})), 900);
  EXPECT_THROW(run(*deep, {number(1100)}), Error);
  EXPECT_EQ(number_of(run(*deep, {number(900)})), 900);  // it can be used after a failure
}

TEST(VirtualMachine, TailCallsDoNotNest) {
  const auto loop = built(R"(
def @loop(%i: int32, %x: Tensor[(8), float32]) -> Tensor[(8), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), multiply(%x, 0.5f)) }
}
def @main(%n: int32, %x: Tensor[(8), float32]) { @loop(%n, %x) })");
  loop->set_depth(10);
  EXPECT_EQ(as_value<TensorValue>(run(*loop, {number(100'000), floats("x", {8})}))->array().as<float>()[0],
            0);
}

TEST(VirtualMachine, ArgumentsAreChecked) {
  const auto factorial = built(kFactorial);
  EXPECT_THROW(run(*factorial, {}), Error);
  EXPECT_THROW(run(*factorial, {program::tuple_value({})}), Error);
  EXPECT_THROW(run(*factorial, {program::tensor_value(NDArray::zeros({2}, DType::int_(32)))}), Error);
  const auto add = built("def @main(%x: Tensor[(?, 4), float32]) { add(%x, %x) }");
  EXPECT_THROW(run(*add, {floats("x", {3, 5})}), Error);
  EXPECT_THROW(run(*add, {floats("x", {3})}), Error);
}

TEST(VirtualMachine, FunctionsThatNobodyCallsAreEntries) {
  const auto program = built(R"(
def @main(%n: int32) -> int32 { add(%n, 1) }
def @other(%n: int32) -> int32 { if (less(%n, 0)) { 0 } else { %n } }
def @any[A](%x: A) -> A { %x })");
  EXPECT_EQ(number_of(run(*program, {number(5)}, "other")), 5);
  EXPECT_EQ(program->program().find("any"), -1);
}

TEST(VirtualMachine, ViewsHaveAsManyElements) {
  const auto shaped = built("def @main(%x: Tensor[(?, 4), float32]) { reshape(%x, newshape=[4, 4]) }");
  EXPECT_EQ(as_value<TensorValue>(run(*shaped, {floats("x", {4, 4})}))->array().size(), 16);
  EXPECT_THROW(run(*shaped, {floats("x", {2, 4})}), Error);
  EXPECT_THROW(run(*shaped, {floats("x", {5, 4})}), Error);
}

TEST(VirtualMachine, KernelsThatNeedNumbersInSomeCases) {
  expect_as_interpreted(
      R"(
def @main(%a: Tensor[(?, ?), float32], %b: Tensor[(1, ?), float32]) { concatenate((%a, %b)) })",
      {{floats("a", {3, 2}), floats("b", {1, 2})}, {floats("a", {0, 4}), floats("b", {1, 4})}});
}

TEST(VirtualMachine, FusedOperatorsAreOneKernel) {
  const auto program = built(R"(
def @main(%x: Tensor[(3, 5), float32]) { nn.relu(multiply(add(%x, 1f), 2f)) })");
  EXPECT_EQ(program->program().kernels.size(), 1);
}

TEST(VirtualMachine, LayersWithOpenRowsHavePackedWeights) {
  const IRModule module = parsed(R"(
def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(256, 64), float32], %d: Tensor[(1, 16, ?, ?), float32],
          %k: Tensor[(32, 16, 3, 3), float32]) {
  (nn.dense(%x, %w, units=256), nn.conv2d(%d, %k, channels=32, kernel_size=[3, 3], padding=[1, 1, 1, 1]))
})");
  const auto weight = [](const std::string& name, const Shape& shape) {
    return as_value<TensorValue>(floats(name, shape))->array();
  };
  const NamedArrays params{{"w", weight("w", {256, 64})}, {"k", weight("k", {32, 16, 3, 3})}};
  BuildContext context = host_context();
  context.passes = std::make_shared<PassContext>();
  context.passes->opt_level = 3;
  const BuildResult build = build_program(module, {.params = params, .context = context});
  std::string names;
  for (const BuiltKernel& each : build.kernels) names += each.func_name + " ";
  EXPECT_NE(names.find("contrib_dense_pack"), std::string::npos) << names;
  EXPECT_NE(names.find("contrib_conv2d_NCHWc"), std::string::npos) << names;
  const auto program = RunnableProgram::create(build);
  const program::InterpretedProgram interpreted(bind_params(module, params), optimize, host_context());
  for (const int64_t n : {1, 5, 70}) {
    const std::vector<Value> args{floats("x", {n, 64}), floats("d", {1, 16, n, n + 3})};
    expect_equal(run(*program, args), interpreted.run(args, host_context()));
  }
}

TEST(VirtualMachine, AnOpenBatchKeepsTheAlgorithms) {
  const IRModule module = parsed(R"(
def @main(%d: Tensor[(?, 32, 14, 14), float32], %k: Tensor[(32, 32, 3, 3), float32],
          %t: Tensor[(32, 16, 4, 4), float32]) {
  (nn.conv2d(%d, %k, channels=32, kernel_size=[3, 3], padding=[1, 1, 1, 1]),
   nn.conv2d_transpose(%d, %t, channels=16, kernel_size=[4, 4], strides=[2, 2], padding=[1, 1, 1, 1],
                       kernel_layout="IOHW"))
})");
  const auto weight = [](const std::string& name, const Shape& shape) {
    return as_value<TensorValue>(floats(name, shape))->array();
  };
  const NamedArrays params{{"k", weight("k", {32, 32, 3, 3})}, {"t", weight("t", {32, 16, 4, 4})}};
  BuildContext context = host_context();
  context.passes = std::make_shared<PassContext>();
  context.passes->opt_level = 3;
  const BuildResult build = build_program(module, {.params = params, .context = context});
  std::string templates;
  for (const BuiltKernel& each : build.kernels) templates += each.kernel->template_name + " ";
  EXPECT_NE(templates.find("conv_winograd"), std::string::npos) << templates;
  EXPECT_EQ(templates.find("trivial"), std::string::npos) << templates;
  const auto program = RunnableProgram::create(build);
  const program::InterpretedProgram interpreted(bind_params(module, params), optimize, host_context());
  for (const int64_t n : {0, 1, 3}) {
    const std::vector<Value> args{floats("d", {n, 32, 14, 14})};
    expect_equal(run(*program, args), interpreted.run(args, host_context()));
  }
}

TEST(VirtualMachine, FunctionsThatAreInlinedLeaveAPlan) {
  const auto plan = [](const std::string& text) { return is_plan(infer_types(parsed(text))); };
  const std::string norm = "def @norm(%x: Tensor[(3), float32], Inline=1) { divide(%x, 3f) }\n",
                    twice = "def @twice(%x: Tensor[(3), float32], Inline=1) { @norm(@norm(%x)) }\n",
                    main = "def @main(%x: Tensor[(3), float32]) { @twice(nn.relu(%x)) }";
  EXPECT_TRUE(plan(norm + twice + main));
  EXPECT_FALSE(plan("def @twice(%x: Tensor[(3), float32]) { add(%x, %x) }\n" + main));
  EXPECT_FALSE(
      plan("def @twice(%x: Tensor[(3), float32], Inline=1) -> Tensor[(3), float32] {\n"
           "  if (less(sum(%x), 1f)) { %x } else { @twice(%x) } }\n" +
           main));
  EXPECT_FALSE(
      plan("def @twice(%x: Tensor[(3), float32], Inline=1) -> Tensor[(3), float32] { @twice(%x) }\n" + main));
}

TEST(VirtualMachine, MeasuredRuns) {
  const auto loop = built(R"(
def @grow(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
  if (equal(%i, 0)) { %x } else { @grow(subtract(%i, 1), concatenate((%x, %x), axis=0)) }
}
def @main(%n: int32, %x: Tensor[(?, 2), float32]) { @grow(%n, %x) })");
  const std::vector<Value> args{number(3), floats("x", {1, 2})};
  for (int i = 0; i < 2; ++i) {
    vm::MeasuredRun measured;
    const Value value = loop->run_measured("main", args, host_context(), measured);
    EXPECT_EQ(as_value<TensorValue>(value)->array().shape(), (Shape{8, 2}));
    const std::vector<vm::MeasuredCalls> calls = measured.calls();
    ASSERT_EQ(calls.size(), 3);  // one for each shape
    double sum = 0;
    for (size_t part = 0; part < vm::kRunParts; ++part) sum += measured.ns_of(static_cast<vm::RunPart>(part));
    for (const vm::MeasuredCalls& each : calls) {
      EXPECT_EQ(each.count, 1);
      EXPECT_NE(each.name.find("concatenate"), std::string::npos);
      sum += each.ns;
    }
    EXPECT_NE(calls[2].shapes.find("float32[8, 2]"), std::string::npos) << calls[2].shapes;
    EXPECT_NEAR(sum, measured.total_ns(), 1 + 0.01 * measured.total_ns());
  }
  expect_equal(run(*loop, args), run(*loop, args));
}

/// The kernels for certain extents are here those of another program, so that its results tell which one ran.
TEST(VirtualMachine, KernelsOfExtentsThatAreMetOftenReplaceOthers) {
  const auto adds = [](const std::string& number) {
    return build_program(parsed("def @main(%x: Tensor[(?), float32]) { add(%x, " + number + ") }"),
                         {.context = host_context()});
  };
  BuildResult result = adds("1f");
  const auto program = RunnableProgram::create(result);
  const BuildResult other = adds("2f");
  ASSERT_EQ(result.kernels.size(), 1u);
  result.kernels[0].request = other.kernels.at(0).request;
  const auto kernels = std::make_shared<BackgroundKernels>(result, host_context(), 0);
  program->specialize(kernels);
  const auto added = [&](int64_t count) {
    const Value given = floats("x", {count});
    const Value made = run(*program, {given});
    return as_value<TensorValue>(made)->array().as<float>()[0] -
           as_value<TensorValue>(given)->array().as<float>()[0];
  };
  EXPECT_NEAR(added(3), 1, 1e-5);
  ASSERT_TRUE(kernels->wait(60));
  ASSERT_EQ(kernels->specialized().size(), 1u);
  EXPECT_EQ(kernels->specialized()[0].extents, std::vector<int64_t>{3});
  EXPECT_EQ(kernels->specialized()[0].why_not, "");
  EXPECT_NEAR(added(3), 2, 1e-5);
  program->specialize(nullptr);
  EXPECT_NEAR(added(3), 1, 1e-5);
  program->specialize(kernels);
  EXPECT_NEAR(added(3), 2, 1e-5);
  EXPECT_NEAR(added(3), 2, 1e-5);
}

/// One that cannot be compiled does not keep the others of its piece from it.
TEST(VirtualMachine, AKernelThatIsNotCompiledForItsExtentsStaysAsItIs) {
  BuildResult result = build_program(parsed(R"(
def @main(%x: Tensor[(?, 8), float32]) { (nn.softmax(%x), sum(%x, axis=[1])) })"),
                                     {.context = host_context()});
  const auto program = RunnableProgram::create(result);
  ASSERT_GE(result.kernels.size(), 2u);
  result.kernels[0].request.function =
      parsed("def @main(%x: Tensor[(8), float32]) { sort(%x) }")->find("main");
  const auto kernels = std::make_shared<BackgroundKernels>(result, host_context(), 0);
  program->specialize(kernels);
  const Value given = floats("x", {5, 8});
  const Value before = run(*program, {given});
  ASSERT_TRUE(kernels->wait(60));
  const auto made = kernels->specialized();
  ASSERT_EQ(made.size(), result.kernels.size());
  size_t refused = 0;
  for (const auto& each : made) refused += !each.why_not.empty();
  EXPECT_EQ(refused, 1u);
  expect_equal(run(*program, {given}), before);
}

TEST(VirtualMachine, FieldsOfTheWrongTypeAreErrors) {
  const auto program = built(R"(
type Chain { Link(int32, Chain), End, }
def @sum(%c: Chain) -> int32 { match (%c) { Link(%v, %r) => add(%v, @sum(%r)), End => 0, } }
def @main(%c: Chain) -> int32 { @sum(%c) }
def @one(%n: int32) -> Chain { Link(%n, End) })");
  const Value good = run(*program, {number(4)}, "one");
  EXPECT_EQ(number_of(run(*program, {good})), 4);
  const auto* data = as_value<program::DataValue>(good);
  const std::vector<Value> fields{floats("x", {2}), data->fields()[1]};
  EXPECT_THROW(run(*program, {make_ref<const program::DataValue>(data->tag(), fields, data->constructor())}),
               Error);
  EXPECT_EQ(number_of(run(*program, {good})), 4);
}

TEST(VirtualMachine, AClosureOutlivesItsProgram) {
  auto made = built("def @main(%n: int32) { fn (%i: int32) -> int32 { add(%i, %n) } }");
  const Value closure = run(*made, {number(3)});
  const std::vector<Value> args{number(4)};
  made.reset();
  EXPECT_EQ(number_of(call_value(*as_value<program::FunctionValue>(closure), args, host_context())), 7);
}

/// Says how many threads kernels have where it is called.
class ThreadsOfCaller final : public program::ForeignFunction {
 public:
  std::string name() const override { return "threads"; }
  Value call(const std::vector<Value>&) const override { return number(current_threads()); }
};

TEST(VirtualMachine, ThreadsAreThoseOfTheCaller) {
  const auto asks = built("def @main(%f: fn (int32) -> int32, %n: int32) { add(%f(%n), 0) }");
  for (const int threads : {1, 2}) {
    const ThreadScope scope(threads);
    EXPECT_EQ(number_of(run(*asks, {make_ref<const ThreadsOfCaller>(), number(0)})), threads);
  }
}

TEST(VirtualMachine, NothingIsReadFromTensorsWithoutElements) {
  const auto first = built(R"(
def @main(%x: Tensor[(?, 3), float32], %i: Tensor[(2), int32]) { take(%x, %i, axis=0, mode="clip") })");
  const Value indices = program::tensor_value(NDArray::zeros({2}, DType::int_(32)));
  EXPECT_EQ(as_value<TensorValue>(run(*first, {floats("x", {4, 3}), indices}))->array().shape(),
            (Shape{2, 3}));
  EXPECT_THROW(run(*first, {floats("x", {0, 3}), indices}), Error);
  EXPECT_EQ(as_value<TensorValue>(run(*first, {floats("x", {1, 3}), indices}))->array().shape(),
            (Shape{2, 3}));
}

TEST(VirtualMachine, WhichProgramsArePlans) {
  const auto is = [](const std::string& text) { return is_plan(infer_types(parsed(text))); };
  EXPECT_TRUE(is("def @main(%x: Tensor[(2, 3), float32]) { let %y = nn.relu(%x); (%y, add(%y, %x)) }"));
  EXPECT_TRUE(is(R"(
def @main(%x: Tensor[(2), float32]) { let %f = fn (%y: Tensor[(2), float32]) { nn.relu(%y) }; add(%f(%x), %x) })"));
  EXPECT_FALSE(is(kFactorial));  // its main only calls a function
  EXPECT_FALSE(is("def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }"));
  EXPECT_FALSE(is("def @main(%x: Tensor[(2), float32], %c: bool) { if (%c) { %x } else { nn.relu(%x) } }"));
  EXPECT_FALSE(is("type Box { Full(int32), Empty, }\ndef @main(%n: int32) { Full(%n) }"));
}

/// Every truncated blob is refused; of those with a flipped bit whatever is read has been checked.
TEST(VirtualMachine, DamagedProgramsAreRefused) {
  const auto program = built(std::string(text::kPrelude) + R"(
def @main(%n: int32, %x: Tensor[(?, 3), float32]) {
  let %l = @map(fn (%i: int32) -> int32 { add(%i, %n) }, Cons(1, Nil));
  if (less(@hd(%l), 3)) { (nn.softmax(%x), %l) } else { (concatenate((%x, %x), axis=0), Nil) }
})");
  const std::string blob = vm::program_blob(program->program());
  const auto read = [&](const std::string& bytes) {
    return vm::read_program({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                            program->program().constants);
  };
  ASSERT_TRUE(read(blob).ok());
  EXPECT_EQ(vm::program_blob(**read(blob)), blob);
  for (size_t size = 0; size < blob.size(); ++size) EXPECT_FALSE(read(blob.substr(0, size)).ok()) << size;
  size_t refused = 0;
  for (size_t at = 0; at < blob.size(); ++at) {
    std::string flipped = blob;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    refused += !read(flipped).ok();
  }
  EXPECT_GT(refused, blob.size() / 4);
}

TEST(VirtualMachine, TheCInterfaceRunsAFile) {
  const test::Folder folder;
  const std::string path = folder.path() + "/loop.baton";
  write_artifact(build_program(parsed(R"(
def @loop(%i: int32, %x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), add(%x, 1f)) }
}
def @main(%n: int32, %p: (Tensor[(?, 4), float32], int32)) { (@loop(%n, %p.0), %p) })"),
                               {.context = host_context()}),
                 path);
  baton_model* model = baton_model_load(path.c_str());
  ASSERT_NE(model, nullptr) << baton_last_error();
  EXPECT_EQ(baton_num_inputs(model), 3);
  EXPECT_EQ(baton_num_outputs(model), 3);
  EXPECT_STREQ(baton_input_name(model, 1), "p.0");
  const int64_t* shape = nullptr;
  ASSERT_EQ(baton_input_shape(model, 1, &shape), 2);
  EXPECT_EQ(shape[0], -1);
  EXPECT_EQ(baton_run(model), BATON_ERROR_ARGUMENT);
  EXPECT_STREQ(baton_last_error(),
               "input `p.0` is float32[?, 4], and has no shape yet: baton_set_input_shape() says which");
  const int32_t turns = 3;
  ASSERT_EQ(baton_set_input(model, 0, &turns, sizeof turns), 0);
  for (const int64_t rows : {2, 0, 5}) {
    const int64_t wanted[] = {rows, 4};
    std::vector<float> x(static_cast<size_t>(rows * 4), 1.5F), y(x.size());
    ASSERT_EQ(baton_set_input_shape(model, 1, wanted, 2), 0) << baton_last_error();
    ASSERT_EQ(baton_set_input(model, 1, x.data(), x.size() * sizeof(float)), 0) << baton_last_error();
    ASSERT_EQ(baton_run(model), 0) << baton_last_error();
    ASSERT_EQ(baton_output_shape(model, 0, &shape), 2);
    EXPECT_EQ(shape[0], rows);
    ASSERT_EQ(baton_get_output(model, 0, y.data(), y.size() * sizeof(float)), 0) << baton_last_error();
    EXPECT_EQ(std::ranges::count(y, 4.5F), rows * 4);
  }
  const int64_t wrong[] = {2, 5};
  EXPECT_EQ(baton_set_input_shape(model, 1, wrong, 2), BATON_ERROR_ARGUMENT);
  EXPECT_STREQ(baton_last_error(), "input `p.0` is float32[?, 4], not float32[2, 5]");
  ASSERT_EQ(baton_profile(model, 2), 0) << baton_last_error();
  EXPECT_GT(baton_profile_calls(model), 0);
  EXPECT_EQ(baton_stream_create(model, 1), nullptr);
  baton_model_free(model);
}

const char* const kNamedExtents = R"(
def @main(%x: Tensor[(meta[tir.Var][0], 4), float32], %y: Tensor[(meta[tir.Mul][0], 4), float32]) {
  let %a = concatenate((nn.relu(%x), %y), axis=0);
  if (less(sum(%a), 1e9f)) { nn.softmax(multiply(%a, exp(%a))) } else { %a }
}
#[metadata]
{
  "root": 1,
  "nodes": [
    {"type_key": ""},
    {"type_key": "Map", "keys": ["tir.Var", "tir.Mul"], "data": [2, 5]},
    {"type_key": "Array", "data": [3]},
    {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4", "span": "0", "type_annotation": "0"}},
    {"type_key": "runtime.String", "repr_str": "n"},
    {"type_key": "Array", "data": [6]},
    {"type_key": "tir.Mul", "attrs": {"a": "3", "b": "7", "dtype": "int32", "span": "0"}},
    {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "2"}}
  ],
  "b64ndarrays": []
})";

BuildResult built_for_at_most(const std::string& most) {
  BuildContext context = host_context();
  context.passes = std::make_shared<PassContext>(*context.passes);
  context.passes->config.set("baton.most", AttrValue(most));
  return build_program(parsed(kNamedExtents), {.context = context});
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Runs of any extents within the bounds, in any order, take no more memory than the machine has at first.
TEST(VirtualMachine, BoundsOfExtentsPlanTheArena) {
  const auto program = RunnableProgram::create(built_for_at_most("n=32"));
  const auto rows = [](int64_t n) {
    return std::vector<Value>{floats("x", {n, 4}), floats("y", {2 * n, 4})};
  };
  const program::InterpretedProgram interpreted(parsed(kNamedExtents), optimize, host_context());
  (void)run(*program, rows(1));
  const size_t arena = program->arena_bytes();
  EXPECT_GE(arena, 3 * 32 * 4 * sizeof(float));
  for (const int64_t n : {3, 32, 1}) {
    expect_equal(run(*program, rows(n)), interpreted.run(rows(n), host_context()));
    EXPECT_EQ(program->arena_bytes(), arena);
  }
  EXPECT_EQ(
      error_of([&] { (void)run(*program, rows(33)); }),
      "argument x is a tensor float32[33, 4]: axis 0, n = 33, is above 32, the most that the program was "
      "built for");
  EXPECT_NE(error_of([&] {
              (void)run(*program, {floats("x", {32, 4}), floats("y", {65, 4})});
            }).find("argument y is a tensor float32[65, 4]: axis 0, 2*n = 65, is above 64"),
            std::string::npos);
  expect_equal(run(*program, rows(2)), interpreted.run(rows(2), host_context()));
  const auto open =
      RunnableProgram::create(build_program(parsed(kNamedExtents), {.context = host_context()}));
  (void)run(*open, rows(1));
  EXPECT_LT(open->arena_bytes(), arena);
  (void)run(*open, rows(33));
}

TEST(VirtualMachine, BoundsOfExtentsAreChecked) {
  EXPECT_NE(error_of([] {
              built_for_at_most("m=3");
            }).find("no extent of main's parameters is called `m`; names: n"),
            std::string::npos);
  EXPECT_NE(error_of([] { built_for_at_most("n=1,2"); }).find("`n=1,2` does not name an extent and a number"),
            std::string::npos);
  EXPECT_NE(error_of([] { built_for_at_most("n=3;n=4"); }).find("two bounds: 3 and 4"), std::string::npos);
  for (const char* const wrong : {"n", "n=", "n=0", "n=-1", "n=99999999999", "=3"})
    EXPECT_THROW(built_for_at_most(wrong), UsageError) << wrong;
}

TEST(VirtualMachine, TheCInterfaceKnowsNamesAndBounds) {
  const test::Folder folder;
  const std::string path = folder.path() + "/named.baton";
  write_artifact(built_for_at_most("n=32"), path);
  baton_model* model = baton_model_load(path.c_str());
  ASSERT_NE(model, nullptr) << baton_last_error();
  EXPECT_STREQ(baton_input_extent_name(model, 0, 0), "n");
  EXPECT_STREQ(baton_input_extent_name(model, 1, 0), "2*n");
  EXPECT_EQ(baton_input_extent_name(model, 0, 1), nullptr);
  EXPECT_EQ(baton_input_extent_name(model, 0, 2), nullptr);
  EXPECT_EQ(baton_input_extent_most(model, 0, 0), 32);
  EXPECT_EQ(baton_input_extent_most(model, 1, 0), 64);
  EXPECT_EQ(baton_input_extent_most(model, 1, 1), 4);
  EXPECT_EQ(baton_input_extent_most(model, 2, 0), -1);
  const int64_t above[] = {33, 4};
  EXPECT_EQ(baton_set_input_shape(model, 0, above, 2), BATON_ERROR_ARGUMENT);
  EXPECT_STREQ(
      baton_last_error(),
      "input `x` is float32[?, 4], not float32[33, 4]: axis 0, n = 33, is above 32, the most that the "
      "program was built for");
  baton_model_free(model);
}

}  // namespace
}  // namespace baton
