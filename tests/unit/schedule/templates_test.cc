// Templates of reductions, pools and elementwise operators, and what holds for all templates.
#include <cstring>
#include <fstream>
#include <set>

// clang-format off
#include <Halide.h>  // first: names of its enumerators are macros of <elf.h>
#include <elf.h>
// clang-format on
#include <unistd.h>

#include "baton/schedule/transposed_reads.h"

#include "schedule/layers.h"

namespace baton {
namespace {

using test::batch_matmul;
using test::check;
using test::conv;
using test::ConvCase;
using test::dense;
using test::depthwise;
using test::KernelBuilder;
using test::MakeKernel;
using test::named;
using test::op_attrs;
using test::Shape;
using test::sheet;
using test::transposed;
using test::Value;
using test::winograd;

struct ReduceCase {
  Shape shape;
  std::vector<int64_t> axes;
};

TEST(Reduce, AnyAxes) {
  for (const ReduceCase& t : std::vector<ReduceCase>{{{128, 768}, {1}},
                                                     {{1, 7, 1000}, {2}},
                                                     {{2, 6, 7, 7}, {2, 3}},
                                                     {{300, 17}, {0}},
                                                     {{5, 3, 100}, {1}},
                                                     {{5, 40, 3}, {0, 2}},
                                                     {{3, 5, 4, 33}, {1, 3}},
                                                     {{9, 3}, {1}},
                                                     {{50, 70}, {0, 1}},
                                                     {{1, 1}, {0}},
                                                     {{300}, {0}}}) {
    Shape kept, unit = t.shape;
    for (size_t axis = 0; axis < t.shape.size(); ++axis)
      if (std::count(t.axes.begin(), t.axes.end(), int64_t(axis)))
        unit[axis] = 1;
      else
        kept.push_back(t.shape[axis]);
    for (const char* op : {"sum", "mean", "max", "variance"}) {
      SCOPED_TRACE(std::string(op) + " of rank " + std::to_string(t.shape.size()) + ", innermost " +
                   std::to_string(t.shape.back()));
      const bool two = std::string(op) == "variance", keepdims = std::string(op) != "sum";
      check(
          "reduce",
          [&] {
            KernelBuilder b("reduce");
            std::vector<Value> inputs{b.call("nn.relu", {b.input(t.shape)}, {}, t.shape)};
            if (two) inputs.push_back(b.input(unit));
            const Shape& shape = keepdims ? unit : kept;
            const Attrs attrs = op_attrs(op, {{"axis", t.axes}, {"keepdims", keepdims}});
            return b.finish(b.call("nn.relu", {b.call(op, inputs, attrs, shape)}, {}, shape));
          },
          1e-5);
    }
  }
}

struct PoolCase {
  const char* op;
  Shape in, out;
  int64_t size, stride;
  std::vector<int64_t> pad;
  bool ceil = false;
  bool relu_before = false;
};

LoweredKernel pool(const PoolCase& t) {
  KernelBuilder b("pool");
  const std::string layout = t.in.size() == 5 ? "NCHW" + std::to_string(t.in[4]) + "c" : "NCHW";
  Value x = b.input(t.in);
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, t.in);
  std::vector<std::pair<std::string, AttrValue>> attrs{{"layout", layout}};
  if (std::string(t.op).find("global") == std::string::npos)
    attrs.insert(attrs.end(), {{"pool_size", std::vector<int64_t>{t.size, t.size}},
                               {"strides", std::vector<int64_t>{t.stride, t.stride}},
                               {"padding", t.pad},
                               {"ceil_mode", t.ceil}});
  return b.finish(b.call(t.op, {x}, op_attrs(t.op, attrs), t.out));
}

// One reduction after the other is a chain of additions, each of which waits for the one before.
TEST(Pool, GlobalPoolsReduceBlocksSideBySide) {
  const auto side_by_side = [](Shape in, Shape out, int64_t size) {
    return named("pool")
        .default_params(pool({"nn.max_pool2d", in, out, size, size, {0, 0}}), sheet())
        .at("tile_c");
  };
  EXPECT_EQ(side_by_side({1, 60, 14, 14, 8}, {1, 60, 1, 1, 8}, 14), 4);
  EXPECT_EQ(side_by_side({1, 33, 14, 14, 8}, {1, 33, 1, 1, 8}, 14), 4);
  EXPECT_EQ(side_by_side({64, 2, 14, 14, 8}, {64, 2, 1, 1, 8}, 14), 2);
  EXPECT_EQ(side_by_side({1, 60, 14, 14, 8}, {1, 60, 2, 2, 8}, 7), 2);
  EXPECT_EQ(side_by_side({1, 60, 14, 14, 8}, {1, 60, 7, 7, 8}, 2), 1);
  EXPECT_EQ(side_by_side({1, 4, 14, 14, 8}, {1, 4, 1, 1, 8}, 14), 1);  // for several threads
}

TEST(Pool, WindowsAndPlanes) {
  for (const PoolCase& t : std::vector<PoolCase>{
           {"nn.max_pool2d", {1, 2, 23, 23, 16}, {1, 2, 12, 12, 16}, 3, 2, {1, 1}},
           {"nn.max_pool2d", {1, 2, 14, 14, 16}, {1, 2, 7, 7, 16}, 2, 2, {0, 0}},
           {"nn.max_pool2d", {2, 3, 9, 9}, {2, 3, 5, 5}, 3, 2, {1, 1}},
           {"nn.max_pool2d", {1, 1, 10, 41}, {1, 1, 5, 20}, 2, 2, {0, 0}},
           {"nn.avg_pool2d", {1, 2, 8, 8, 8}, {1, 2, 8, 8, 8}, 3, 1, {1, 1}},
           {"nn.avg_pool2d", {1, 3, 7, 7}, {1, 3, 4, 4}, 2, 2, {0, 0}, true},
           {"nn.avg_pool2d", {1, 3, 17, 17}, {1, 3, 17, 17}, 3, 1, {1, 1}},
           {"nn.max_pool2d", {2, 2, 16, 16}, {2, 2, 16, 16}, 3, 1, {1, 1}},
           {"nn.max_pool2d", {1, 2, 5, 31}, {1, 2, 3, 16}, 3, 2, {1, 1}, false, true},
           {"nn.avg_pool2d", {1, 1, 301, 20}, {1, 1, 301, 20}, 3, 1, {1, 1}},
           {"nn.max_pool2d", {1, 2, 3, 1}, {1, 2, 3, 1}, 3, 1, {1, 1}},
           {"nn.global_avg_pool2d", {1, 4, 7, 7, 16}, {1, 4, 1, 1, 16}, 0, 0, {}},
           {"nn.global_avg_pool2d", {2, 5, 6, 7}, {2, 5, 1, 1}, 0, 0, {}},
           {"nn.global_max_pool2d", {1, 2, 3, 3, 8}, {1, 2, 1, 1, 8}, 0, 0, {}},
           {"nn.global_avg_pool2d", {1, 36, 7, 5, 8}, {1, 36, 1, 1, 8}, 0, 0, {}},
           {"nn.global_avg_pool2d", {1, 33, 6, 6, 8}, {1, 33, 1, 1, 8}, 0, 0, {}},
           {"nn.global_max_pool2d", {3, 15, 4, 4, 8}, {3, 15, 1, 1, 8}, 0, 0, {}},
           {"nn.max_pool2d", {1, 32, 5, 5, 8}, {1, 32, 2, 2, 8}, 3, 2, {0, 0}},
           {"nn.avg_pool2d", {1, 34, 6, 4, 8}, {1, 34, 3, 2, 8}, 2, 2, {0, 0}},
           {"nn.max_pool2d", {1, 2, 6, 6, 16}, {1, 2, 3, 3, 16}, 2, 2, {0, 0}, false, true}}) {
    SCOPED_TRACE(std::string(t.op) + " rank " + std::to_string(t.in.size()) + " width " +
                 std::to_string(t.in[3]));
    check("pool", [&] { return pool(t); });
  }
}

TEST(Pointwise, Chains) {
  for (const Shape& shape : std::vector<Shape>{
           {1, 4, 9, 7, 16}, {1, 1000}, {3}, {2, 3, 5, 3}, {1, 64, 7, 7}, {1, 1, 40, 40, 3}, {5, 130}}) {
    SCOPED_TRACE(std::to_string(shape.size()) + " axes, innermost " + std::to_string(shape.back()));
    check("pointwise", [&] {
      KernelBuilder b("pointwise");
      const Value x = b.input(shape), y = b.input({shape.back()});
      const Value sum = b.call("add", {x, y}, {}, shape);
      return b.finish(b.call("nn.relu", {b.call("multiply", {sum, sum}, {}, shape)}, {}, shape));
    });
  }
}

// What is written in another order than it is read goes by tiles of both: between layouts, transposed, and
// with elements of several operands.
TEST(Pointwise, TilesOfTransposedData) {
  struct Case {
    const char *from, *to;
    Shape shape, result;
  };
  for (const Case& t : std::vector<Case>{{"NCHW8c", "NCHW", {1, 3, 5, 19, 8}, {1, 24, 5, 19}},
                                         {"NCHW8c", "NCHW", {2, 1, 1, 6, 8}, {2, 8, 1, 6}},
                                         {"NCHW12c", "NCHW", {1, 2, 3, 8, 12}, {1, 24, 3, 8}},
                                         {"NCHW5c", "NCHW", {1, 2, 3, 33, 5}, {1, 10, 3, 33}},
                                         {"NCHW", "NCHW8c", {1, 16, 7, 7}, {1, 2, 7, 7, 8}},
                                         {"NCHW", "NCHW8c", {1, 16, 40, 43}, {1, 2, 40, 43, 8}},
                                         {"NCHW", "NHWC", {2, 11, 3, 13}, {2, 3, 13, 11}},
                                         {"NHWC", "NCHW", {1, 3, 2, 21}, {1, 21, 3, 2}}}) {
    SCOPED_TRACE(std::string(t.from) + " to " + t.to + ", innermost " + std::to_string(t.result.back()));
    check(
        "pointwise",
        [&] {
          KernelBuilder b("tiles");
          const Attrs attrs = op_attrs(
              "layout_transform", {{"src_layout", std::string(t.from)}, {"dst_layout", std::string(t.to)}});
          const Value moved = b.call("layout_transform", {b.input(t.shape)}, attrs, t.result);
          const Value sum = b.call("add", {moved, b.input(t.result)}, {}, t.result);
          return b.finish(b.call("nn.relu", {sum}, {}, t.result));
        },
        0, 3);
  }
}

TEST(Pointwise, FindsTheLoopThatDataAreContiguousAlong) {
  const auto found = [](const std::string& from, const std::string& to, const Shape& shape,
                        const Shape& result) {
    KernelBuilder b("along");
    const Attrs attrs = op_attrs("layout_transform", {{"src_layout", from}, {"dst_layout", to}});
    const LoweredKernel kernel = b.finish(b.call("layout_transform", {b.input(shape)}, attrs, result));
    const auto along =
        find_transposed_loop(kernel.outputs.front().func(), loops_over(kernel.outputs.front()));
    return along ? std::pair(along->dim, along->length) : std::pair(0, 0);
  };
  EXPECT_EQ(found("NCHW8c", "NCHW", {1, 3, 5, 19, 8}, {1, 24, 5, 19}), std::pair(2, 8));
  EXPECT_EQ(found("NCHW", "NCHW8c", {1, 24, 5, 19}, {1, 3, 5, 19, 8}), std::pair(1, 19));
  EXPECT_EQ(found("NCHW", "NHWC", {1, 24, 5, 19}, {1, 5, 19, 24}), std::pair(1, 19));
  EXPECT_EQ(found("NCHW", "NCWH", {1, 24, 5, 19}, {1, 24, 19, 5}), std::pair(1, 19));
  EXPECT_EQ(found("NCHW", "CNHW", {2, 24, 5, 19}, {24, 2, 5, 19}), std::pair(0, 0));
}

/// What an object file wants from others.
std::set<std::string> undefined_symbols(const std::string& object) {
  std::set<std::string> names;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(object.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(object.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* text = object.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(object.data() + sections[i].sh_offset);
    for (size_t k = 1; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k)
      if (symbols[k].st_shndx == SHN_UNDEF) names.insert(text + symbols[k].st_name);
  }
  return names;
}

TEST(Templates, KernelsNeedOnlyWhatTheRuntimeHas) {
  const std::set<std::string> allowed = {"halide_malloc", "halide_free", "halide_do_par_for",
                                         "memset",        "memcpy",      "memmove"};
  const ConvCase large{1, 64, 40, 40, 64, 3, 1, {1, 1}, 16, 16, "bgr"};
  std::vector<MakeKernel> all = {
      [&] { return conv(large); },
      [&] { return winograd(large, 4); },
      [&] { return depthwise(large); },
      [&] { return transposed({1, 64, 64, {40, 40}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 16, 16, "bgr"}, true); },
      [&] { return transposed({1, 64, 3, {40, 40}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 0, 0, "t"}, true); },
      [&] { return dense({4, 512, 64, 16, true}, true); },
      [&] { return dense({1, 512, 64, 16, true}, false); },
      [&] { return dense({64, 1024, 64, 16, true}, true); },
      [&] { return batch_matmul({8, 8, 64, 64, 64, "epilogue"}, false, true); },
      [&] { return pool({"nn.max_pool2d", {1, 8, 40, 40, 16}, {1, 8, 20, 20, 16}, 3, 2, {1, 1}}); }};
  for (const char* op : {"tanh", "erf", "exp", "sigmoid"})
    all.push_back([op] {
      KernelBuilder b("pointwise");
      return b.finish(b.call(op, {b.input({64, 512})}, {}, {64, 512}));
    });
  all.push_back([] {
    KernelBuilder b("softmax");
    return b.finish(b.call("nn.softmax", {b.input({64, 1000})}, op_attrs("nn.softmax"), {64, 1000}));
  });
  std::set<std::string> seen;
  const std::string path = testing::TempDir() + "baton_templates_test_" + std::to_string(getpid()) + ".o";
  for (const MakeKernel& make : all)
    test::with_halide_errors([&] {
      LoweredKernel kernel = make();
      const ScheduleTemplate& found = find_template(kernel, sheet());
      SCOPED_TRACE(std::string(found.name) + " " + kernel.blocks[0].op->name);
      found.apply(kernel, found.default_params(kernel, sheet()), sheet());
      const std::vector<Halide::Argument> args(kernel.inputs.begin(), kernel.inputs.end());
      Halide::Pipeline(kernel.outputs.front().func())
          .compile_to_object(path, args, "k",
                             test::jit_target()
                                 .without_feature(Halide::Target::JIT)
                                 .with_feature(Halide::Target::NoRuntime));
      std::ifstream file(path, std::ios::binary);
      const std::string object{std::istreambuf_iterator<char>(file), {}};
      std::remove(path.c_str());
      for (const std::string& name : undefined_symbols(object)) {
        EXPECT_TRUE(name.empty() || allowed.count(name)) << name;
        seen.insert(name);
      }
    });
  EXPECT_TRUE(seen.count("halide_do_par_for"));
}

TEST(Templates, SayWhyNot) {
  const ConvCase t{1, 16, 8, 8, 16, 3, 1, {1, 1}, 16, 16, "bm"};
  const LoweredKernel kernel = conv(t);
  EXPECT_EQ(named("conv_direct").refuses(kernel, sheet()), "");
  for (const char* other : {"conv_winograd", "conv_depthwise", "conv_plain", "conv_positions", "gemm",
                            "matmul", "pool", "reduce", "rows", "pointwise"})
    EXPECT_NE(named(other).refuses(kernel, sheet()), "") << other;
}

}  // namespace
}  // namespace baton
