// Kernels that are compiled together: in one module of LLVM, and cut apart afterwards.
#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/debug/elf_object.h"
#include "baton/codegen/kernel/split_object.h"
#include "baton/ir/op.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

KernelRequest request_of(const Function& function, bool strict = false) {
  KernelRequest request;
  request.function = function;
  request.strict = strict;
  return request;
}

Function unary(const char* op, std::vector<int64_t> shape, Attrs attrs = {}) {
  const Type type = test::f32(std::move(shape));
  const Var x = test::param("x", type);
  return test::primitive({x}, test::op_call(op, {x}, type, std::move(attrs)));
}

/// A table of constants in the kernel, which refers to it by its section.
Function with_table() {
  const Type type = test::f32({2, 3});
  const Var x = test::param("x", type);
  const std::vector<float> values = {-1, 2, -3, 4, -5, 6};
  const Expr held = make_constant(NDArray::of<float>({2, 3}, values, DType::float_(32)), test::typed({}));
  return test::primitive({x}, test::op_call("add", {x, held}, type));
}

Function max_pool() {
  const std::vector<int64_t> two{2, 2};
  const Type image = test::f32({1, 16, 12, 12}), pooled = test::f32({1, 16, 6, 6});
  const Var x = test::param("x", image);
  const Attrs attrs = make_attrs(*find_op("nn.max_pool2d")->attrs, {{"pool_size", two}, {"strides", two}});
  return test::primitive({x}, test::op_call("nn.max_pool2d", {x}, pooled, attrs));
}

std::vector<KernelRequest> requests_of_all_kinds() {
  register_all_ops();
  std::vector<KernelRequest> requests = {
      request_of(test::relu_chain({5, 8, 16, 16}, 2)),
      request_of(unary("exp", {3, 100})),
      request_of(unary("nn.softmax", {4, 33}, make_attrs(*find_op("nn.softmax")->attrs, {{"axis", -1}}))),
      request_of(with_table()),                  // cannot be joined with others
      request_of(unary("exp", {3, 101}), true),  // strict: another kind of module
      request_of(max_pool()),
      request_of(unary("sigmoid", {17, 33}))};
  requests.push_back(requests.front());
  requests.back().variant.marked = true;
  return requests;
}

TEST(CompiledTogether, AKernelHasTheBytesItHasAlone) {
  const std::vector<KernelRequest> requests = requests_of_all_kinds();
  const DeviceSheet sheet = DeviceSheet::host();
  const std::vector<Kernel> together = compile_together(requests, sheet);
  ASSERT_EQ(together.size(), requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const Kernel alone = compile_kernel(requests[i], sheet);
    EXPECT_EQ(together[i].symbol, alone.symbol);
    EXPECT_EQ(together[i].stages, alone.stages) << i;
    EXPECT_EQ(together[i].marks, alone.marks) << i;
    EXPECT_GT(together[i].compile_s, 0) << i;
    EXPECT_FALSE(alone.object.empty());
    EXPECT_TRUE(together[i].object == alone.object) << i << ": " << alone.template_name;
  }
}

TEST(CompiledTogether, EachComputesWhatItShould) {
  const test::Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  options.threads = 1;
  std::vector<KernelRequest> requests;
  for (int64_t i = 0; i < 12; ++i) requests.push_back(request_of(test::relu_chain({3, 40 + i}, 1)));
  int last = 0, calls = 0;
  options.progress = [&](const std::string&, int done, int total) {
    EXPECT_GT(done, last);
    EXPECT_EQ(total, 12);
    last = done, ++calls;
  };
  const std::vector<KernelRef> kernels = compile_kernels(requests, options);
  EXPECT_EQ(last, 12);
  EXPECT_LT(calls, 12) << "no two were compiled together";
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i) named.emplace_back("k" + std::to_string(i), kernels[i]);
  const auto library = load_library(named, requests, options);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::vector<NDArray> inputs = test::rule_inputs(requests[i].function);
    const NDArray got = test::call_kernel(library->find(named[i].first), requests[i].function, inputs)[0];
    for (int64_t k = 0; k < got.size(); ++k)
      ASSERT_EQ(got.as<float>()[k], std::max(inputs[0].as<float>()[k], 0.f));
  }
}

TEST(CompiledTogether, AnErrorNamesTheKernelThatHasIt) {
  const std::vector<int64_t> shape{1000000, 250000, 4};
  const Type large = test::f32(shape);
  const Var x = test::param("x", test::f32({4}));
  const Expr wide = test::op_call("broadcast_to", {x}, large,
                                  make_attrs(*find_op("broadcast_to")->attrs, {{"shape", shape}}));
  const Expr sum = test::op_call("sum", {wide}, test::f32({}), make_attrs(*find_op("sum")->attrs, {}));
  const std::vector<KernelRequest> requests = {request_of(unary("exp", {3, 100})),
                                               request_of(test::primitive({x}, sum))};
  try {
    compile_together(requests, DeviceSheet::host());
    FAIL() << "a million million elements were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("`broadcast_to` would give"));
  }
}

TEST(SplitObject, KeepsTheKernelsOwnFunctionsOnly) {
  const std::vector<KernelRequest> requests = {request_of(unary("exp", {3, 100}))};
  const Kernel kernel = compile_together(requests, DeviceSheet::host()).front();
  const std::optional<std::string> again = split_object(kernel.object, kernel.symbol);
  ASSERT_TRUE(again);
  EXPECT_TRUE(*again == kernel.object);
  const Result<ElfObject> object = ElfObject::parse(*again);
  ASSERT_TRUE(object.ok()) << object.status().message;
  EXPECT_NE(object->symbol(kernel.symbol), nullptr);
  EXPECT_NE(object->symbol(kernel.symbol + "_argv"), nullptr);
  EXPECT_FALSE(split_object(kernel.object, "another"));
}

TEST(SplitObject, TakesNoDamagedObjects) {
  const Kernel kernel = compile_kernel(request_of(unary("exp", {3, 100})), DeviceSheet::host());
  for (size_t size = 0; size < kernel.object.size(); size += 7)
    EXPECT_FALSE(split_object(kernel.object.substr(0, size), kernel.symbol)) << size;
  EXPECT_FALSE(split_object(std::string(4096, '\0'), kernel.symbol));
  // Whatever a byte becomes, nothing outside of the text is read (asan).
  std::string damaged = kernel.object;
  for (size_t at = 0; at < damaged.size(); ++at) {
    const char was = std::exchange(damaged[at], static_cast<char>(damaged[at] ^ 0x81));
    split_object(damaged, kernel.symbol);
    damaged[at] = was;
  }
}

}  // namespace
}  // namespace baton
