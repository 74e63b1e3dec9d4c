#include "baton/codegen/compiler.h"

#include <filesystem>
#include <fstream>

#include <Halide.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/link.h"
#include "baton/runtime/marks.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using test::Folder;

KernelRequest request_for(const Function& function) {
  KernelRequest request;
  request.function = function;
  return request;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<NDArray> reference_relu(const std::vector<NDArray>& inputs) {
  NDArray out = inputs[0].copy();
  for (float& value : out.as<float>()) value = std::max(value, 0.f);
  return {out};
}

TEST(Compiler, KernelsRunLinkedAndByJit) {
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const std::vector<KernelRequest> requests = {request_for(test::relu_chain({3, 5}, 1)),
                                               request_for(test::relu_chain({2, 3, 40, 40}, 3)),
                                               request_for(test::relu_chain({}, 2))};
  const std::vector<KernelRef> kernels = compile_kernels(requests, options);
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i)
    named.emplace_back("tvmgen_my-mod_" + std::to_string(i), kernels[i]);
  ASSERT_NE(find_linker(), "");
  for (const auto& library :
       {load_library(named, requests, options), jit_library(named, requests, options.host(), options)}) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      const Function& function = requests[i].function;
      const auto inputs = test::rule_inputs(function);
      const auto outputs = test::call_kernel(library->find(named[i].first), function, inputs);
      EXPECT_EQ(test::largest_difference(outputs[0], reference_relu(inputs)[0]), 0) << i;
    }
    EXPECT_EQ(library->find("tvmgen_my-mod_3"), nullptr);
  }
}

TEST(Compiler, EqualFunctionsShareAKernelWhateverTheirNames) {
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const Type type = test::f32({7, 9});
  const Var a = test::param("a", type), b = test::param("other", type);
  const std::vector<KernelRequest> requests = {
      request_for(test::primitive({a}, test::op_call("nn.relu", {a}, type))),
      request_for(test::primitive({b}, test::op_call("nn.relu", {b}, type))),
      request_for(test::relu_chain({9, 7}, 1))};
  int calls = 0, last_total = 0;
  options.progress = [&](const std::string&, int done, int total) {
    calls += 1;
    last_total = total;
    EXPECT_LE(done, total);
  };
  const auto kernels = compile_kernels(requests, options);
  EXPECT_EQ(kernels[0], kernels[1]);
  EXPECT_NE(kernels[0]->key, kernels[2]->key);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(last_total, 2);
}

TEST(Compiler, ResultsGivenTwiceAndInputsGivenBackAreCopied) {
  const Type type = test::f32({4, 6});
  const Var x = test::param("x", type);
  const Expr relu = test::op_call("nn.relu", {x}, type);
  const Type triple = tuple_type({type, type, type});
  const Function function = test::primitive({x}, make_tuple({relu, x, relu}, test::typed(triple)));
  const std::vector<KernelRequest> requests = {request_for(function)};
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const NamedKernels named = {{"k", compile_kernels(requests, options)[0]}};
  const auto inputs = test::rule_inputs(function);
  const auto outputs = test::call_kernel(load_library(named, requests, options)->find("k"), function, inputs);
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(test::largest_difference(outputs[0], reference_relu(inputs)[0]), 0);
  EXPECT_EQ(test::largest_difference(outputs[1], inputs[0]), 0);
  EXPECT_EQ(test::largest_difference(outputs[2], outputs[0]), 0);
}

TEST(Compiler, LinkedConstantsAreHeldByTheKernel) {
  const Type type = test::f32({2, 3});
  const Var x = test::param("x", type);
  const std::vector<float> values = {-1, 2, -3, 4, -5, 6};
  const Expr held = make_constant(NDArray::of<float>({2, 3}, values, DType::float_(32)), test::typed({}));
  const Type pair = tuple_type({type, type});
  const Function function = test::primitive(
      {x}, make_tuple({test::op_call("nn.relu", {held}, type), test::op_call("nn.relu", {x}, type)},
                      test::typed(pair)));
  const std::vector<KernelRequest> requests = {request_for(function)};
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const NamedKernels named = {{"k", compile_kernels(requests, options)[0]}};
  for (const auto& library :
       {load_library(named, requests, options), jit_library(named, requests, options.host(), options)}) {
    const auto outputs = test::call_kernel(library->find("k"), function, test::rule_inputs(function));
    EXPECT_THAT(outputs[0].as<float>(), testing::ElementsAre(0, 2, 0, 4, 0, 6));
  }
}

TEST(Compiler, MarkedKernelsComputeTheSameAndStampTheirStages) {
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const Function function = test::relu_chain({64, 32, 32}, 2);
  std::vector<KernelRequest> requests(3, request_for(function));
  requests[1].variant.marked = true;
  requests[2].variant.marked = requests[2].variant.doubled = true;
  const auto kernels = compile_kernels(requests, options);
  EXPECT_TRUE(kernels[0]->marks.empty());
  ASSERT_EQ(kernels[1]->marks.size(), 1u);
  EXPECT_EQ(kernels[1]->marks[0].stage, "relu");
  EXPECT_EQ(kernels[1]->marks[0].block, 1);
  EXPECT_EQ(kernels[1]->marks[0].name, "b1_nn_relu__relu");
  EXPECT_EQ(kernels[2]->marks, kernels[1]->marks);
  const NamedKernels named = {{"plain", kernels[0]}, {"marked", kernels[1]}, {"doubled", kernels[2]}};
  const auto inputs = test::rule_inputs(function);
  for (const auto& library :
       {load_library(named, requests, options), jit_library(named, requests, options.host(), options)}) {
    const auto plain = test::call_kernel(library->find("plain"), function, inputs);
    for (const char* name : {"marked", "doubled"}) {
      reset_marks();
      const auto outputs = test::call_kernel(library->find(name), function, inputs);
      EXPECT_TRUE(outputs[0].equal_bytes(plain[0]));
      const MarkTable marks = collect_marks();
      EXPECT_GT(marks[kernels[1]->marks[0].id].visits, 0u);
      EXPECT_EQ(marks[kCalibrationSlot].visits > 0, std::string(name) == "doubled");
    }
  }
}

TEST(Compiler, AnAblatedBlockPassesItsInputOn) {
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  std::vector<KernelRequest> requests = {request_for(test::relu_chain({4, 100}, 1))};
  requests[0].variant.ablated = {0};
  const NamedKernels named = {{"k", compile_kernels(requests, options)[0]}};
  const auto inputs = test::rule_inputs(requests[0].function);
  const auto outputs =
      test::call_kernel(load_library(named, requests, options)->find("k"), requests[0].function, inputs);
  EXPECT_EQ(test::largest_difference(outputs[0], inputs[0]), 0);
}

TEST(Compiler, InterruptStopsBetweenKernels) {
  const std::atomic<bool> stop{true};
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  options.interrupt = &stop;
  const std::vector<KernelRequest> requests = {request_for(test::relu_chain({11, 13}, 1))};
  EXPECT_THROW(compile_kernels(requests, options), Interrupted);
}

TEST(Compiler, SaysWhatItCannotDo) {
  const Type open = tensor_type({Dim::any(), Dim(3)}, DType::float_(32));
  const Var x = test::param("x", open);
  const std::vector<KernelRequest> requests = {
      request_for(test::primitive({x}, test::op_call("nn.relu", {x}, open)))};
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  try {
    compile_kernels(requests, options);
    FAIL() << "an unknown extent was accepted";
  } catch (const NotSupported& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needs to know the extents of Tensor[(?, 3)"));
  }
  KernelRequest named = request_for(test::relu_chain({2}, 1));
  named.template_name = "trivail";
  try {
    compile_kernel(named, DeviceSheet::host());
    FAIL() << "an unknown template was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean `trivial`"));
  }
}

TEST(Compiler, ChannelsThatDoNotFillBlocksAreRefused) {
  // 10 channels of the data's 40, in two blocks of 8: the last ones were read beyond the data.
  const std::vector<int64_t> given{5, 5, 1, 3, 8}, made{5, 2, 2, 6, 8};
  const Type data = tensor_type(given, DType::float_(32)), result = tensor_type(made, DType::float_(32));
  const Var x = test::param("x", data);
  const Attrs attrs = make_attrs(*find_op("nn.depth_to_space")->attrs,
                                 {{"block_size", int64_t{2}}, {"layout", std::string("NCHW8c")}});
  try {
    compile_kernel(request_for(test::primitive({x}, test::op_call("nn.depth_to_space", {x}, result, attrs))),
                   DeviceSheet::host());
    FAIL() << "blocks that are not full were accepted";
  } catch (const NotSupported& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("10 channels, which do not fill the blocks of layout NCHW8c"));
  }
}

/// Runs `body` in a child process, so that nothing this process compiled before has a say.
template <class Body>
void in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Compiler, ObjectsAreTheSameInEveryProcessWithAMarkedTwinOrWithout) {
  const Folder first, second;
  std::vector<KernelRequest> requests = {request_for(test::relu_chain({5, 8, 16, 16}, 2)),
                                         request_for(test::relu_chain({17, 33}, 1))};
  in_child([&] {
    KernelCache cache(first.path());
    BuildContext options = host_context();
    options.cache = &cache;
    options.threads = 1;
    compile_kernels(requests, options);
  });
  in_child([&] {
    KernelCache cache(second.path());
    BuildContext options = host_context();
    options.cache = &cache;
    options.threads = 1;
    std::vector<KernelRequest> more = {requests[1], requests[0], requests[0]};
    more[1].variant.marked = true;
    compile_kernels(more, options);
  });
  KernelCache a(first.path()), b(second.path());
  for (const KernelRequest& request : requests) {
    const KernelKey key = kernel_key(request, DeviceSheet::host());
    ASSERT_TRUE(a.load(key) && b.load(key));
    EXPECT_TRUE(a.load(key)->object == b.load(key)->object);
  }
}

/// Makes Halide believe that it has seen every name: it numbers what it makes from now on.
void use_up_names() {
  for (int i = 0; i < 200000; ++i) Halide::Internal::unique_name("used" + std::to_string(i));
}

/// Attributes of a pool whose windows of 2 x 2 lie side by side.
Attrs halved_by(const char* pool) {
  const std::vector<int64_t> two{2, 2};
  return make_attrs(*find_op(pool)->attrs, {{"pool_size", two}, {"strides", two}});
}

TEST(Compiler, ObjectsDoNotTellWhatElseAProcessCompiled) {
  const Folder first, second;
  const Type image = test::f32({1, 16, 12, 12}), pooled = test::f32({1, 16, 6, 6});
  const Var x = test::param("x", image);
  const Function pool = test::primitive(
      {x}, test::op_call("nn.relu", {test::op_call("nn.max_pool2d", {x}, pooled, halved_by("nn.max_pool2d"))},
                         pooled));
  const std::vector<KernelRequest> requests = {request_for(pool),
                                               request_for(test::relu_chain({5, 8, 16, 16}, 2))};
  for (const Folder* folder : {&first, &second})
    in_child([&] {
      if (folder == &second) use_up_names();
      KernelCache cache(folder->path());
      BuildContext options = host_context();
      options.cache = &cache;
      compile_kernels(requests, options);
    });
  KernelCache a(first.path()), b(second.path());
  for (const KernelRequest& request : requests) {
    const KernelKey key = kernel_key(request, DeviceSheet::host());
    ASSERT_TRUE(a.load(key) && b.load(key));
    EXPECT_TRUE(a.load(key)->object == b.load(key)->object);
  }
}

/// conv(x) -> relu with the stages pad and conv: what is nested in a stage of its own operator is not marked.
TEST(Compiler, MarksStandAroundOperatorsNotWithinThem) {
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const Type image = test::f32({1, 16, 12, 12}), pooled = test::f32({1, 16, 6, 6});
  const Var x = test::param("x", image);
  const Function pool = test::primitive(
      {x}, test::op_call("nn.relu", {test::op_call("nn.avg_pool2d", {x}, pooled, halved_by("nn.avg_pool2d"))},
                         pooled));
  std::vector<KernelRequest> requests(2, request_for(pool));
  requests[0].variant.marked = requests[1].variant.marked = true;
  const auto kernels = compile_kernels({&requests[0], 1}, options);
  std::set<int> blocks;
  for (const MarkSite& site : kernels[0]->marks) blocks.insert(site.block);
  EXPECT_EQ(blocks.size(), kernels[0]->marks.size()) << "a stage within one of its own operator is marked";
  for (const MarkSite& site : kernels[0]->marks)
    if (site.block == 0) requests[1].variant.merged.insert(site.name);
  ASSERT_FALSE(requests[1].variant.merged.empty());
  const auto merged = compile_kernels({&requests[1], 1}, options)[0];
  ASSERT_EQ(merged->marks.size(), 1u);
  EXPECT_EQ(merged->marks[0].block, 1);
  ASSERT_EQ(merged->marks[0].holds.size(), 1u);
  EXPECT_EQ(merged->marks[0].holds[0].block, 0);
  KernelCache again(folder.path());
  EXPECT_EQ(again.load(merged->key)->marks, merged->marks);
}

TEST(Compiler, ASecondProcessFindsWhatTheFirstCompiled) {
  const Folder folder;
  const std::vector<KernelRequest> requests = {request_for(test::relu_chain({6, 7, 8}, 1))};
  const auto compile = [&](bool expect_cached) {
    KernelCache cache(folder.path());
    BuildContext options = host_context();
    options.cache = &cache;
    if (compile_kernels(requests, options)[0]->from_cache != expect_cached)
      throw Error("from_cache is wrong");
  };
  in_child([&] { compile(false); });
  in_child([&] { compile(true); });
}

/// maximum(exp(x), exp(x)), of one exp or of two.
KernelRequest maximum_of_exps(int exps, const Shape& shape) {
  const Type type = test::f32(shape);
  const Var x = test::param("x", type);
  const Expr first = test::op_call("exp", {x}, type);
  const Expr second = exps == 1 ? first : test::op_call("exp", {x}, type);
  return request_for(test::primitive({x}, test::op_call("maximum", {first, second}, type)));
}

TEST(Compiler, ASharedCallIsAnotherKernelThanTwoEqualOnes) {
  const Folder folder;
  const auto blocks = [&](const std::vector<int>& exps, const Shape& shape) {
    KernelCache cache(folder.path());
    BuildContext options = host_context();
    options.cache = &cache;
    std::vector<KernelRequest> requests;
    for (const int count : exps) requests.push_back(maximum_of_exps(count, shape));
    std::vector<size_t> counts;
    for (const KernelRef& kernel : compile_kernels(requests, options)) {
      counts.push_back(kernel->stages.size());
      EXPECT_EQ(kernel->block_facts.size(), counts.back());
    }
    return counts;
  };
  using Counts = std::vector<size_t>;
  EXPECT_EQ(blocks({1, 2}, {3, 7}), (Counts{2, 3}));  // in one call
  EXPECT_EQ(blocks({2, 1}, {3, 8}), (Counts{3, 2}));
  EXPECT_EQ(blocks({1}, {3, 9}), Counts{2});  // in one process
  EXPECT_EQ(blocks({2}, {3, 9}), Counts{3});
  EXPECT_EQ(blocks({2}, {3, 10}), Counts{3});
  EXPECT_EQ(blocks({1}, {3, 10}), Counts{2});
  const auto in_another = [&](int exps, const Shape& shape) {  // through the cache on disk
    in_child([&] {
      if (blocks({exps}, shape) != Counts{static_cast<size_t>(exps) + 1}) throw Error("wrong kernel");
    });
  };
  in_another(1, {3, 11});
  in_another(2, {3, 11});
  in_another(2, {3, 12});
  in_another(1, {3, 12});
}

TEST(Compiler, KeysThatAgreeInHalfTheirBitsAreDifferentEntries) {
  const Folder folder;
  KernelCache cache(folder.path());
  cache.store_bytes({1, 7}, "so", "one");
  cache.store_bytes({2, 7}, "so", "two");
  EXPECT_EQ(cache.load_bytes({1, 7}, "so"), "one");
  EXPECT_EQ(cache.load_bytes({2, 7}, "so"), "two");
  // An entry says whose it is: under another name it is damaged.
  std::filesystem::copy_file(cache.path({2, 7}, "so"), cache.path({1, 7}, "so"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.load_bytes({1, 7}, "so"));
}

TEST(Compiler, ADamagedEntryIsCompiledAgain) {
  const Folder folder;
  const std::vector<KernelRequest> requests = {request_for(test::relu_chain({6, 7, 9}, 1))};
  const std::string file = KernelCache(folder.path()).path(kernel_key(requests[0], DeviceSheet::host()));
  const auto compile = [&](bool expect_cached) {
    KernelCache cache(folder.path());
    BuildContext options = host_context();
    options.cache = &cache;
    if (compile_kernels(requests, options)[0]->from_cache != expect_cached)
      throw Error("from_cache is wrong");
  };
  in_child([&] { compile(false); });
  const std::string good = contents(file);
  ASSERT_GT(good.size(), 1000u);
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  for (const std::string& damaged :
       {flipped, good.substr(0, good.size() - 1), std::string(), std::string("nothing"), good + "x"}) {
    std::ofstream(file, std::ios::binary) << damaged;
    in_child([&] { compile(false); });
    EXPECT_EQ(contents(file).size(), good.size());
    in_child([&] { compile(true); });
  }
}

TEST(KernelCache, AFolderThatCannotBeWrittenToGivesOneWarning) {
  KernelCache cache("/proc/baton-cache");
  BuildContext options = host_context();
  options.cache = &cache;
  testing::internal::CaptureStderr();
  const std::vector<KernelRequest> requests = {request_for(test::relu_chain({6, 7, 10}, 1)),
                                               request_for(test::relu_chain({6, 7, 11}, 1))};
  EXPECT_EQ(compile_kernels(requests, options).size(), 2u);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("/proc/baton-cache"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(KernelCache, TrimRemovesWhatWasNotUsedForLongest) {
  const Folder folder;
  KernelCache cache(folder.path(), 10000);
  const std::string bytes(4000, 'x');
  for (uint64_t i : {1, 2, 3}) {
    cache.store_bytes({0, i}, "so", bytes);
    const timespec used[2] = {{static_cast<time_t>(1000 * i), 0}, {static_cast<time_t>(1000 * i), 0}};
    utimensat(AT_FDCWD, cache.path({0, i}, "so").c_str(), used, 0);
  }
  EXPECT_TRUE(cache.load_bytes({0, 1}, "so"));  // now it is the youngest
  cache.trim();
  EXPECT_TRUE(cache.load_bytes({0, 1}, "so"));
  EXPECT_FALSE(cache.load_bytes({0, 2}, "so"));
}

// The store of measurements and the user's predictors lie in the same folder, and are no cache.
TEST(KernelCache, TrimLeavesWhatIsNotItsOwn) {
  const Folder folder;
  KernelCache cache(folder.path(), 1000);
  std::filesystem::create_directories(folder.path() + "/predictors");
  for (const char* name : {"/measurements.db", "/predictors/here.predictor"})
    std::ofstream(folder.path() + name) << std::string(4000, 'x');
  cache.store_bytes({0, 1}, "so", std::string(4000, 'x'));
  cache.trim();
  EXPECT_FALSE(cache.load_bytes({0, 1}, "so"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/measurements.db"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/predictors/here.predictor"));
}

// Processes that store little look seldom, all together often enough: here each stores half a step.
TEST(KernelCache, TrimsForWhatAllProcessesStoreTogether) {
  const Folder folder;
  const int64_t limit = 64 * 2000;
  const std::string bytes(1000 - 40, 'x');
  for (uint64_t i = 0; i < 600; ++i) {
    KernelCache cache(folder.path(), limit);
    cache.store_bytes({i << 56, i}, "so", bytes);
    cache.trim_if_due();
  }
  int64_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) total += static_cast<int64_t>(entry.file_size());
  EXPECT_LE(total, limit + 64 * 1000);  // 60 in a row without a look: one case in 2^60
  EXPECT_GE(total, limit / 2);
}

TEST(KernelCache, WhatIsStoredInOneStepIsFollowedByALook) {
  const Folder folder;
  KernelCache cache(folder.path(), 64);
  cache.store_bytes({0, 1}, "so", std::string(100, 'x'));
  cache.trim_if_due();
  EXPECT_FALSE(cache.load_bytes({0, 1}, "so"));
}

}  // namespace
}  // namespace baton
