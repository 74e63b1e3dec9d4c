// Programs of the virtual machine with several devices, beside the interpreter.
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "baton/driver/pipeline.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/runtime/plugin.h"
#include "baton/runtime/vm/check.h"
#include "baton/runtime/vm/listing.h"
#include "baton/runtime/vm/program_blob.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "driver/device_programs.h"
#include "driver/program_values.h"

namespace baton::devices_of_programs {
namespace {

using program::as_value;
using program::TensorValue;
using program::Value;
using test::expect_equal;
using test::floats;
using test::number;
using test::truth;

constexpr int kMirror = 12;

IRModule parsed(const std::string& text) {
  initialize();
  return parse_module("#[version = \"0.0.5\"]\n" + text);
}

BuildResult built_for(const std::string& text, const std::vector<std::string>& targets) {
  return build_program(parsed(text), on(targets));
}

/// How many calls of the program's pieces copy between devices.
int copies_in(const vm::Program& program) {
  int count = 0;
  for (const vm::Piece& piece : program.pieces)
    for (const vm::PieceCall& call : piece.calls) count += call.kernel == vm::PieceCall::kCopy;
  return count;
}

/// Runs it as built, and as read from its file's section; results are those of the interpreter.
void expect_as_interpreted(const std::string& text, const BuildResult& built,
                           const std::vector<std::vector<Value>>& calls) {
  SCOPED_TRACE(text);
  expect_conserved(built);
  for (const PlanNode& node : built.plan.graph->nodes) {
    if (node.kind != PlanNode::Kind::kCopy) continue;
    EXPECT_TRUE(!node.origins.empty() || (!node.made_for.empty() && !node.reason.empty())) << node.name;
  }
  const program::InterpretedProgram interpreted(parsed(text), optimize, host_context());
  const auto machine = RunnableProgram::create(built);
  const std::string blob = vm::program_blob(*built.program);
  const auto read = vm::read_program({reinterpret_cast<const uint8_t*>(blob.data()), blob.size()},
                                     built.program->constants);
  ASSERT_TRUE(read.ok()) << read.status().message;
  EXPECT_EQ(vm::program_blob(**read), blob);
  for (const std::vector<Value>& args : calls) {
    const Value wanted = interpreted.run(args, host_context());
    for (int i = 0; i < 2; ++i) expect_equal(machine->run("main", args, host_context()), wanted);
    vm::MeasuredRun measured;
    expect_equal(machine->run_measured("main", args, host_context(), measured), wanted);
    double sum = 0;
    for (size_t part = 0; part < vm::kRunParts; ++part) sum += measured.ns_of(static_cast<vm::RunPart>(part));
    for (const vm::MeasuredCalls& each : measured.calls()) sum += each.ns;
    for (const vm::MeasuredCopies& each : measured.copies()) {
      sum += each.ns;
      EXPECT_TRUE(each.cause == vm::MeasuredRun::kOutside || each.cause < built.plan.graph->nodes.size());
    }
    EXPECT_NEAR(sum, measured.total_ns(), 1 + 0.02 * measured.total_ns());
  }
}

struct Case {
  std::string name, text;
  std::vector<std::vector<Value>> calls;
};

const std::string kMatrix = "Tensor[(4, 4), float32]";

std::vector<Case> cases() {
  const Value x = floats("x", {4, 4}), w = floats("w", {4, 4});
  const auto with_types = [](std::string text) {
    for (size_t at; (at = text.find("$M")) != std::string::npos;) text.replace(at, 2, kMatrix);
    return text;
  };
  std::vector<Case> all = {
      {"Loop",
       R"(
def @loop(%i: int32, %x: $M, %w: $M) -> $M {
  if (less(%i, 1)) { %x } else { @loop(subtract(%i, 1), nn.relu(nn.dense(%x, %w, units=4)), %w) } }
def @main(%i: int32, %x: $M, %w: $M) -> $M { @loop(%i, %x, %w) })",
       {{number(0), x, w}, {number(3), x, w}}},
      {"Branch",
       R"(
def @main(%c: bool, %x: $M, %w: $M) {
  let %a = add(%x, 1f);
  let %b = if (%c) { let %t = multiply(%a, 2f); nn.dense(%t, %w, units=4) } else { subtract(%a, %x) };
  (%b, add(%b, %a), %x) })",
       {{truth(true), x, w}, {truth(false), x, w}}},
      {"Functions",
       R"(
def @layer(%x: $M, %w: $M) -> $M { nn.relu(nn.dense(%x, %w, units=4)) }
def @main(%n: int32, %x: $M, %w: $M) -> $M {
  if (less(%n, 3)) { @layer(@layer(%x, %w), %w) } else { @layer(%x, %w) } })",
       {{number(2), x, w}, {number(4), x, w}}},
      {"DataTypes",
       R"(
type Chain { Link($M, Chain), End, }
def @sum(%l: Chain) -> $M { match (%l) { Link(%x, End) => %x, Link(%x, %r) => add(%x, @sum(%r)), End => zeros(shape=[4, 4], dtype="float32"), } }
def @main(%n: int32, %x: $M) {
  let %y = nn.relu(nn.dense(%x, %x, units=4));
  let %l = if (less(%n, 3)) { Link(%y, Link(multiply(%y, 2f), End)) } else { Link(%x, End) };
  (@sum(%l), %l, @sum(End)) })",
       {{number(2), x}, {number(4), x}}},
      {"Closures",
       R"(
def @twice(%f: fn ($M) -> $M, %x: $M) -> $M { %f(%f(%x)) }
def @main(%n: int32, %x: $M) {
  let %y = nn.relu(%x);
  let %f = fn (%z: $M) -> $M { add(%y, nn.dense(%z, %z, units=4)) };
  let %g = if (less(%n, 3)) { %f } else { fn (%z: $M) -> $M { subtract(%z, %y) } };
  (@twice(%g, %x), %f(%y)) })",
       {{number(2), x}, {number(4), x}}},
      {"References",
       R"(
def @main(%n: int32, %x: $M) {
  let %r = ref(nn.relu(%x));
  let %u = ref_write(%r, add(ref_read(%r), %x));
  if (less(%n, 3)) { nn.dense(ref_read(%r), %x, units=4) } else { ref_read(%r) } })",
       {{number(2), x}, {number(4), x}}},
      {"ConditionsOfValues",
       R"(
def @loop(%i: int32, %x: $M) -> $M {
  if (greater(sum(%x), 1000f)) { %x } else { @loop(add(%i, 1), add(multiply(%x, 2f), cast(%i, dtype="float32"))) } }
def @main(%i: int32, %x: $M) -> $M { @loop(%i, abs(%x)) })",
       {{number(1), x}}},
      {"TuplesAndViews",
       R"(
def @pair(%n: int32, %p: ($M, (int32, Tensor[(16), float32]))) -> ($M, (int32, Tensor[(16), float32])) {
  if (less(%n, 1)) { %p } else {
    let %q = reshape(%p.0, newshape=[16]);
    @pair(subtract(%n, 1), (reshape(add(%q, (%p.1).1), newshape=[4, 4]), (add((%p.1).0, 2), nn.relu(%q)))) } }
def @main(%n: int32, %x: $M) { @pair(%n, (%x, (%n, reshape(%x, newshape=[16])))) })",
       {{number(0), x}, {number(3), x}}},
      {"Constants",
       R"(
def @loop(%n: int32, %x: $M, %y: $M) -> $M {
  if (less(%n, 1)) { add(%x, %y) } else { @loop(subtract(%n, 1), nn.relu(add(%x, cast(%n, dtype="float32"))), %y) } }
def @main(%n: int32) {
  @loop(%n, zeros(shape=[4, 4], dtype="float32"), full(3f, shape=[4, 4], dtype="float32")) })",
       {{number(0)}, {number(3)}}},
      {"OpenExtents",
       R"(
def @main(%n: int32, %x: Tensor[(?, 4), float32], %w: $M) {
  let %k = nn.relu(nn.dense(%w, %w, units=4));
  if (less(%n, 3)) { (nn.dense(%x, %k, units=4), %k) } else { (nn.relu(%x), %w) } })",
       {{number(2), floats("x", {3, 4}), w}, {number(4), floats("x", {5, 4}), w}}},
  };
  for (Case& each : all) each.text = with_types(each.text);
  return all;
}

TEST(ProgramDevices, AllOnADevice) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const BuildResult built = built_for(each.text, {"mirror"});
    EXPECT_GT(kernels_on(built, "mirror"), 0);
    EXPECT_EQ(built.program->devices, std::vector<int32_t>{kMirror});
    expect_as_interpreted(each.text, built, each.calls);
  }
}

/// Operators at random on two devices, one of them simulated, and the processor.
TEST(ProgramDevices, ScatteredOperators) {
  int copies = 0;
  for (const Case& each : cases())
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(each.name + ", seed " + std::to_string(seed));
      BuildOptions options = on({"llvm", "mirror", "sim -sheet=big_core"});
      std::mt19937 random(seed);
      const int sim = options.context.targets[2]->device_type();
      // What variables and functions have is in one place, which their users share.
      Scatter scatter([&](const Expr& value) {
        const auto* call = as<CallNode>(value);
        return call && call->op() ? std::array{0, 1, kMirror, sim}[random() % 4] : 0;
      });
      const IRModule module = infer_types(parsed(each.text));
      for (const auto& [name, function] : std::map(module->functions()))
        module->replace(name, as_ref<FunctionNode>(scatter.run(Expr(function))));
      std::optional<BuildResult> built;
      try {
        built = build_program(module, options);
      } catch (const Error& why) {
        // Places that contradict each other, which is no matter of programs.
        ASSERT_NE(std::string(why.what()).find("on two devices at once"), std::string::npos) << why.what();
        continue;
      }
      copies += copies_in(*built->program);
      expect_as_interpreted(each.text, *built, each.calls);
    }
  EXPECT_GT(copies, 30);
}

const char* const kRegions = R"(
def @body(%a: $M, %b: $M, Compiler="$C", global_symbol="body", Primitive=1, Inline=1) -> $M {
  nn.relu(nn.dense(%a, %b, units=4)) }
def @loop(%i: int32, %x: $M, %w: $M) -> $M {
  if (less(%i, 1)) { %x } else { @loop(subtract(%i, 1), add(@body(%x, %w), %w), %w) } }
def @main(%i: int32, %x: $M, %w: $M) {
  let %f = fn (%z: $M) -> $M { @body(%z, %z) };
  (@loop(%i, %x, %w), if (less(%i, 2)) { %f(%x) } else { %w }) })";

std::string with(std::string text, const std::string& name, const std::string& value) {
  for (size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), value);
  return text;
}

TEST(ProgramDevices, RegionsInLoopsAndClosures) {
  const std::string text = with(kRegions, "$M", kMatrix);
  const std::string plain =
      with(text, "Compiler=\"$C\", global_symbol=\"body\", Primitive=1, Inline=1", "Inline=0");
  const program::InterpretedProgram interpreted(parsed(with(plain, ", Inline=0", "")), optimize,
                                                host_context());
  for (const std::string compiler : {"mirror", "sim_big_core", "dnnl"}) {
    SCOPED_TRACE(compiler);
    if (compiler == "dnnl" && !Plugin::find("dnnl").ok()) continue;
    const BuildResult built = build_program(parsed(with(text, "$C", compiler)), on({"llvm"}));
    expect_conserved(built);
    EXPECT_GE(kernels_on(built, compiler), 2);
    const auto machine = RunnableProgram::create(built);
    for (const int i : {0, 1, 4}) {
      const std::vector<Value> args{number(i), floats("x", {4, 4}), floats("w", {4, 4})};
      expect_equal(machine->run("main", args, host_context()), interpreted.run(args, host_context()));
    }
  }
}

/// Why nodes are not computed as asked, a line for each.
std::string fallbacks(const BuildResult& built) {
  std::string text;
  for (const PlanNode& node : built.plan.graph->nodes)
    if (!node.fallback.empty()) text += node.fallback + "\n";
  return text;
}

TEST(ProgramDevices, RegionsOfOpenExtentsAreOfTheProcessor) {
  const std::string text = with(kRegions, "$C", "mirror");
  const std::string open = with(text, "$M", "Tensor[(?, 4), float32]");
  const BuildResult built = build_program(parsed(open), on({"llvm"}));
  expect_conserved(built);
  EXPECT_EQ(kernels_on(built, "mirror"), 0);
  EXPECT_NE(fallbacks(built).find("mirror does not compile region `body`: it makes code for constant shapes"),
            std::string::npos)
      << fallbacks(built);
  const auto machine = RunnableProgram::create(built);
  const BuildResult closed = build_program(parsed(with(text, "$M", kMatrix)), on({"llvm"}));
  const std::vector<Value> args{number(2), floats("x", {4, 4}), floats("w", {4, 4})};
  expect_equal(machine->run("main", args, host_context()),
               RunnableProgram::create(closed)->run("main", args, host_context()));
  BuildOptions strict = on({"llvm"});
  strict.context.passes->config.set("baton.strict_regions", AttrValue(true));
  EXPECT_THROW(build_program(parsed(open), strict), NotSupported);
}

TEST(ProgramDevices, KernelsOfOpenExtentsAreOfTheProcessor) {
  const std::string text = "def @main(%x: Tensor[(?, 4), float32]) { nn.relu(%x) }";
  const BuildResult built = build_program(parsed(text), on({"mirror"}));
  EXPECT_EQ(kernels_on(built, "mirror"), 0);
  EXPECT_TRUE(built.program->devices.empty());
  EXPECT_EQ(fallbacks(built),
            "the processor computes it, and no device: it has extents that are known at run time only, and "
            "kernels of devices have constant ones\n");
  EXPECT_EQ(fallbacks(built_for(text, {"llvm"})), "");
  BuildOptions strict = on({"mirror"});
  strict.context.passes->config.set("baton.strict_regions", AttrValue(true));
  EXPECT_THROW(build_program(parsed(text), strict), NotSupported);
}

/// A value that several readers need on a device is copied once, and so is what a loop does not change.
TEST(ProgramDevices, CopiesArePlacedOnce) {
  const BuildResult built = built_for(with(R"(
def @loop(%i: int32, %x: $M, %w: $M) -> $M {
  if (less(%i, 1)) { %x } else { @loop(subtract(%i, 1), nn.relu(nn.dense(%x, %w, units=4)), %w) } }
def @main(%i: int32, %x: $M, %w: $M) -> $M { add(@loop(%i, %x, %w), @loop(%i, %x, %w)) })",
                                           "$M", kMatrix),
                                      {"mirror"});
  EXPECT_EQ(copies_in(*built.program), 3);  // both arguments, and the result
  const std::string text = vm::listing(*built.program);
  EXPECT_NE(text.find("device_copy"), std::string::npos) << text;
}

/// Negates what it is given, which is in the memory of the host.
class Negated final : public program::ForeignFunction {
 public:
  std::string name() const override { return "negated"; }
  Value call(const std::vector<Value>& args) const override {
    NDArray made = as_value<TensorValue>(args[0])->array().copy();
    for (float& each : made.as<float>()) each = -each;
    return program::tensor_value(made);
  }
};

/// What comes from outside is copied for the kernels that read it, and what others get for these.
TEST(ProgramDevices, CopiesForWhatNeedsThemAreCounted) {
  const BuildResult built = built_for(with(R"(
type Chain { Link($M, Chain), End, }
def @main(%f: fn ($M) -> $M, %x: $M) { add(%f(nn.relu(%x)), %x) }
def @twice(%x: $M) { Link(%x, Link(nn.relu(%x), End)) })",
                                           "$M", kMatrix),
                                      {"mirror"});
  const auto program = RunnableProgram::create(built);
  const Value x = floats("x", {4, 4});
  const auto copies_of = [&](const std::string& function, std::vector<Value> args) {
    vm::MeasuredRun measured;
    (void)program->run_measured(function, args, host_context(), measured);
    return measured.copies();
  };
  const std::vector<vm::MeasuredCopies> of_main = copies_of("main", {make_ref<const Negated>(), x});
  ASSERT_EQ(of_main.size(), 2u);  // to the function, and what it returned to the device
  EXPECT_NE(built.plan.graph->nodes.at(of_main[0].cause).name.find("add"), std::string::npos);
  EXPECT_EQ(of_main[1].cause, vm::MeasuredRun::kOutside);
  const std::vector<vm::MeasuredCopies> of_twice = copies_of("twice", {x});
  ASSERT_EQ(of_twice.size(), 1u);
  EXPECT_EQ(of_twice[0].cause, vm::MeasuredRun::kOutside);
  EXPECT_EQ(of_twice[0].count, 2u);
}

/// What only loads a constant has the operators that were folded into it.
TEST(ProgramDevices, ConstantsThatArePassedOnHaveAPlace) {
  const std::string text = with(R"(
def @pick(%c: bool, %a: $M, %b: $M) -> $M { if (%c) { nn.relu(%a) } else { @pick(True, %b, %a) } }
def @main(%c: bool, %x: $M) {
  (@pick(%c, %x, full(3f, shape=[4, 4], dtype="float32")), full(2, shape=[], dtype="int32")) })",
                                "$M", kMatrix);
  for (const std::string target : {"llvm", "mirror"}) {
    SCOPED_TRACE(target);
    const BuildResult built = built_for(text, {target});
    expect_conserved(built);
    for (const OperatorRecord& record : built.origins->operators) {
      if (record.op != "full") continue;
      ASSERT_EQ(record.folded_into.size(), 1u);
      const PlanNode& load = built.plan.graph->nodes.at(record.folded_into[0]);
      EXPECT_EQ(load.kind, PlanNode::Kind::kNop);
      EXPECT_TRUE(load.name.starts_with("load_")) << load.name;
      EXPECT_EQ(load.made_for, std::vector<uint32_t>{record.id});
    }
    expect_as_interpreted(text, built,
                          {{truth(true), floats("x", {4, 4})}, {truth(false), floats("x", {4, 4})}});
  }
}

TEST(ProgramDevices, ValuesFromOutside) {
  const auto program = RunnableProgram::create(built_for(with(R"(
type Chain { Link($M, Chain), End, }
def @main(%f: fn ($M) -> $M, %x: $M) { add(%f(nn.relu(%x)), %f(%x)) }
def @keep(%x: $M) { let %y = nn.relu(%x); fn (%z: $M) -> $M { add(%y, %z) } }
def @fill(%r: ref($M), %x: $M) { ref_write(%r, add(ref_read(%r), %x)) }
def @first(%l: Chain) -> $M { match (%l) { Link(%x, End) => nn.relu(%x), Link(%x, %r) => add(%x, @first(%r)), End => zeros(shape=[4, 4], dtype="float32"), } }
def @head(%l: Chain) -> $M { @first(%l) }
def @twice(%x: $M) { Link(%x, Link(nn.relu(%x), End)) })",
                                                              "$M", kMatrix),
                                                         {"mirror"}));
  const auto run = [&](const std::string& name, std::vector<Value> args) {
    return program->run(name, args, host_context());
  };
  const Value x = floats("x", {4, 4});
  const auto element = [](const Value& value, int64_t i) {
    return as_value<TensorValue>(value)->array().as<float>()[i];
  };
  const Value sum = run("main", {make_ref<const Negated>(), x});
  const Value closure = run("keep", {x});
  const std::vector<Value> again{x};
  const Value added = call_value(*as_value<program::FunctionValue>(closure), again, host_context());
  const auto cell = make_ref<const program::CellValue>(x);
  (void)run("fill", {cell, x});
  const Value chain = run("twice", {x});
  const Value head = run("head", {chain});
  for (int64_t i = 0; i < 16; ++i) {
    const float at = element(x, i), positive = std::max(at, 0.0f);
    EXPECT_FLOAT_EQ(element(sum, i), -positive - at);
    EXPECT_FLOAT_EQ(element(added, i), positive + at);
    EXPECT_FLOAT_EQ(element(cell->value(), i), at + at);
    EXPECT_FLOAT_EQ(element(head, i), at + positive);
  }
}

/// Every truncated blob is refused; of those with a flipped bit whatever is read has been checked, and
/// machines of it start or say why not.
TEST(ProgramDevices, DamagedProgramsAreRefused) {
  BuildOptions options = on({"llvm"});
  const BuildResult built =
      build_program(parsed(with(with(kRegions, "$M", kMatrix), "$C", "mirror")), options);
  const std::string blob = vm::program_blob(*built.program);
  const auto read = [&](const std::string& bytes) {
    return vm::read_program({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                            built.program->constants);
  };
  for (size_t size = 0; size < blob.size(); ++size) EXPECT_FALSE(read(blob.substr(0, size)).ok()) << size;
  size_t refused = 0;
  for (size_t at = 0; at < blob.size(); ++at) {
    std::string flipped = blob;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    auto program = read(flipped);
    refused += !program.ok();
    if (program.ok()) (void)vm::Machine::create(*program, load_modules(built), nullptr);
  }
  EXPECT_GT(refused, blob.size() / 4);

  const auto refuses = [&](auto&& damage) {
    vm::Program damaged = *built.program;
    damage(damaged);
    return !vm::check(damaged).ok() ||
           !vm::Machine::create(std::make_shared<vm::Program>(damaged), load_modules(built), nullptr).ok();
  };
  EXPECT_FALSE(refuses([](vm::Program&) {}));
  EXPECT_TRUE(refuses([](vm::Program& program) { program.devices.clear(); }));
  EXPECT_TRUE(refuses([](vm::Program& program) { program.devices[0] = 1; }));
  EXPECT_TRUE(refuses([](vm::Program& program) { program.devices[0] = 4711; }));
  for (size_t k = 0; k < built.program->kernels.size(); ++k)
    EXPECT_TRUE(refuses([&](vm::Program& program) { program.kernels[k].device ^= 1; })) << k;
  for (size_t p = 0; p < built.program->pieces.size(); ++p) {
    const vm::Piece& piece = built.program->pieces[p];
    std::set<uint32_t> used;
    for (const vm::PieceCall& call : piece.calls) {
      used.insert(call.inputs.begin(), call.inputs.end());
      used.insert(call.outputs.begin(), call.outputs.end());
    }
    for (const uint32_t t : used)
      EXPECT_TRUE(refuses([&](vm::Program& program) { program.pieces[p].tensors[t].device ^= 1; })) << p;
    for (size_t c = 0; c < piece.calls.size(); ++c)
      EXPECT_TRUE(refuses([&](vm::Program& program) {
        uint32_t& kernel = program.pieces[p].calls[c].kernel;
        kernel = kernel == vm::PieceCall::kCopy ? 0 : vm::PieceCall::kCopy;
      })) << p
          << " " << c;
  }
}

}  // namespace
}  // namespace baton::devices_of_programs
