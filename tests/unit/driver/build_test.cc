#include "baton/driver/build.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <unistd.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/pass/origin_verifier.h"
#include "baton/runtime/model.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/json.h"
#include "baton/text/json/tensor_bytes.h"
#include "baton/text/parser.h"

#include "driver/pass_tree.h"
#include "text/reference.h"

namespace baton {
namespace {

using text::reference;

/// A cache folder for this test program alone.
KernelCache& test_cache() {
  static KernelCache cache([] {
    std::string path = (std::filesystem::temp_directory_path() / "baton-build-test-XXXXXX").string();
    if (!mkdtemp(path.data())) std::abort();
    static const std::string kept = path;
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(kept, ignored);
    });
    return path;
  }());
  return cache;
}

BuildOptions options_for(const Json& golden, const IRModule& module) {
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = golden["opt_level"].get<int>();
  options.context.cache = &test_cache();
  for (const std::string& name : golden["params_in"].get<std::vector<std::string>>())
    for (const Var& param : module->find("main")->params())
      if (param->name() == name) {
        const auto* type = as_type<TensorTypeNode>(param->annotation());
        options.params.emplace_back(name, parameter_value(name, type->extents(), type->dtype()));
      }
  return options;
}

/// The same value with the members of all objects in the order of their names.
Json in_order(const Json& json) {
  if (json.is_array()) {
    Json items = Json::array();
    for (const Json& item : json) items.push_back(in_order(item));
    return items;
  }
  if (!json.is_object()) return json;
  std::map<std::string, Json> members;
  for (const auto& [name, value] : json.items()) members[name] = in_order(value);
  Json object = Json::object();
  for (const auto& [name, value] : members) object[name] = value;
  return object;
}

/// The graph without what may differ: hashes, and what Baton adds.
Json comparable(Json graph) {
  for (Json& node : graph["nodes"]) {
    if (!node.contains("attrs")) continue;
    for (const char* own : {"hash", "origins", "made_for", "reason"}) node["attrs"].erase(own);
  }
  return in_order(graph);
}

NDArray decoded(const Json& output) {
  const std::string bytes = *text::base64_decode(output["b64"].get<std::string>());
  return NDArray::from_bytes(output["shape"].get<std::vector<int64_t>>(),
                             *DType::parse(output["dtype"].get<std::string>()), bytes.data());
}

void expect_outputs(Executor& executor, const Json& golden) {
  for (const Json& input : golden["inputs"]) {
    const NDArray value =
        tensor_value(input["name"].get<std::string>(), input["shape"].get<std::vector<int64_t>>(),
                     *DType::parse(input["dtype"].get<std::string>()),
                     {input["lo"].get<double>(), input["hi"].get<double>()});
    const Status status = executor.set_input(input["name"].get<std::string>(), value);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  const Status status = executor.run();
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_EQ(executor.num_outputs(), golden["outputs"].size());
  for (size_t i = 0; i < executor.num_outputs(); ++i) {
    const NDArray want = decoded(golden["outputs"][i]), have = executor.output(i);
    ASSERT_EQ(have.shape(), want.shape());
    double largest = 0, worst = 0;
    for (int64_t at = 0; at < want.size(); ++at) {
      largest = std::max(largest, std::fabs(double(want.as<float>()[at])));
      const double d = std::fabs(double(want.as<float>()[at]) - double(have.as<float>()[at]));
      if (!(d <= worst)) worst = d;
    }
    EXPECT_LE(worst, 1e-4 * largest) << "output " << i;
  }
}

struct SmallModel {
  const char* name;
  std::set<int> levels;
};

class SmallModels : public testing::TestWithParam<SmallModel> {};

TEST_P(SmallModels, AreBuiltAsByTvm) {
  initialize();
  int checked = 0;
  for (const Json& golden : reference("build.jsonl.gz")) {
    if (golden["model"] != GetParam().name || !GetParam().levels.count(golden["opt_level"].get<int>()))
      continue;
    SCOPED_TRACE(golden["id"].get<std::string>());
    const IRModule module = parse_module(golden["text"].get<std::string>());
    const auto recorder = std::make_shared<PassTreeRecorder>();
    const auto context = std::make_shared<PassContext>();
    golden["opt_level"].get_to(context->opt_level);
    context->instruments = {recorder};
    const InstrumentScope scope(context);
    BuildOptions options = options_for(golden, module);
    options.context.passes = context;
    const BuildResult built = build(module, options);
    EXPECT_EQ(pass_tree_text(recorder->tree()), pass_tree_text(reference_pass_tree(golden)));
    const Json graph = Json::parse(graph_json(*built.plan.graph));
    std::vector<std::string> nodes, funcs;
    for (const Json& node : graph["nodes"]) {
      nodes.push_back(node["name"].get<std::string>());
      if (node["op"] == "tvm_op") funcs.push_back(node["attrs"]["func_name"].get<std::string>());
    }
    EXPECT_EQ(Json(nodes), golden["debug_nodes"]);
    EXPECT_EQ(Json(funcs), golden["func_names"]);
    EXPECT_EQ(comparable(graph), comparable(golden["graph"]));
    expect_outputs(*make_executor(built), golden);
    ++checked;
  }
  EXPECT_EQ(checked, static_cast<int>(GetParam().levels.size()));
}

INSTANTIATE_TEST_SUITE_P(Build, SmallModels,
                         testing::Values(SmallModel{"conv_relu", {0, 1, 2}},
                                         SmallModel{"residual", {0, 1, 2}},
                                         SmallModel{"long_name", {0, 1, 2, 3}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Build, AnArtifactRunsAsTheModelItWasMadeFrom) {
  initialize();
  for (const Json& golden : reference("build.jsonl.gz")) {
    if (golden["id"] != "build/residual/O2") continue;
    const IRModule module = parse_module(golden["text"].get<std::string>());
    const BuildResult built = build(module, options_for(golden, module));
    const std::string path = test_cache().directory() + "/residual.baton";
    write_artifact(built, path);
    auto model = Model::load(path);
    ASSERT_TRUE(model.ok()) << model.status().message;
    expect_outputs((*model)->executor(), golden);
    EXPECT_EQ(read_origins((*model)->artifact().text(section::kOrigins)), built.origins);
  }
}

TEST(Build, EveryOperatorEndsInANodeOrAConstantOrIsRetired) {
  initialize();
  const IRModule module = parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.dropout(%x);
  %1 = negative(%w);
  %2 = nn.conv2d(%0.0, %1, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  nn.relu(%2)
})");
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = 2;
  options.context.cache = &test_cache();
  options.params = {{"w", parameter_value("w", {4, 4, 3, 3}, DType::float_(32))}};
  const BuildResult built = build(module, options);
  const Json origins = Json::parse(origins_json(*built.origins));
  ASSERT_EQ(origins["operators"].size(), 4u);
  for (const Json& op : origins["operators"]) {
    const std::string name = op["op"].get<std::string>();
    SCOPED_TRACE(name);
    EXPECT_EQ(op["nodes"].size(), name == "nn.conv2d" || name == "nn.relu" ? 1u : 0u);
    EXPECT_EQ(op["folded_into"].size(), name == "negative" ? 1u : 0u);
    EXPECT_EQ(op["retired"].is_null(), name != "nn.dropout");
    EXPECT_GE(op["line"].get<int>(), 3);
  }
  EXPECT_EQ(origins["operators"][2]["type"], "Tensor[(1, 4, 8, 8), float32]");
  EXPECT_EQ(origins["operators"][2]["attrs"]["padding"], Json({1, 1, 1, 1}));
  EXPECT_FALSE(origins["operators"][2]["attrs"].contains("groups"));
  ASSERT_EQ(built.kernels.size(), 1u);
  EXPECT_EQ(built.kernels[0].kernel->facts.flops, 2.0 * 4 * 8 * 8 * 4 * 9 + 4 * 8 * 8);
  EXPECT_EQ(built.function_metadata.back().first, "__tvm_main__");
}

TEST(Build, TwoKernelsThatDifferInSharingOnly) {
  initialize();
  const std::string shared = "  %0 = exp(%x);\n  %1 = maximum(%0, %0);\n",
                    apart = "  %2 = maximum(exp(%x), exp(%x));\n";
  const auto check = [&](const std::string& body, int64_t width) {
    const IRModule module = parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3, " +
                                         std::to_string(width) + "), float32]) {\n" + body + "  (%1, %2)\n}");
    BuildOptions options{.context = host_context()};
    options.context.passes->opt_level = 2;  // level 3 merges equal calls
    options.context.cache = &test_cache();
    const BuildResult built = build(module, options);
    std::multiset<size_t> blocks;
    for (const BuiltKernel& each : built.kernels) {
      EXPECT_EQ(each.kernel->stages.size(), kernel_blocks(*each.request.function).size());
      blocks.insert(each.kernel->stages.size());
    }
    EXPECT_EQ(blocks, (std::multiset<size_t>{2, 3}));
    const auto executor = make_executor(built);
    const NDArray x = tensor_value("x", {3, width}, DType::float_(32));
    ASSERT_TRUE(executor->set_input("x", x).ok());
    ASSERT_TRUE(executor->run().ok());
    for (size_t i = 0; i < 2; ++i)
      for (int64_t at = 0; at < x.size(); ++at)
        EXPECT_NEAR(executor->output(i).as<float>()[at], std::exp(x.as<float>()[at]), 1e-5);
  };
  check(shared + apart, 5);
  check(apart + shared, 6);
}

TEST(Build, ProgressIsReportedAndInterruptsAreHeard) {
  initialize();
  const IRModule module =
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3, 5), float32]) { nn.relu(exp(%x)) }");
  BuildOptions options{.context = host_context()};
  options.context.cache = &test_cache();
  std::set<std::string> phases;
  options.context.progress = [&](const std::string& phase, int done, int total) {
    phases.insert(phase);
    EXPECT_LE(done, total);
  };
  build(module, options);
  EXPECT_THAT(phases, testing::ElementsAre("kernels", "link", "optimize"));
  const std::atomic<bool> stop{true};
  options.context.interrupt = &stop;
  EXPECT_THROW(build(module, options), Interrupted);
}

// A classifier's weight is most of the memory of some networks (VGG-11: 0.4 of 0.5 GB).
TEST(Build, AWeightThatIsReadOnceIsNotCopied) {
  initialize();
  const IRModule module = parse_module(
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(1, 8192), float32], %w: Tensor[(16, 8192), float32]) { nn.relu(nn.dense(%x, "
      "%w)) }");
  BuildOptions options{.context = host_context()};
  options.context.cache = &test_cache();
  const NDArray weight = NDArray::zeros({16, 8192}, DType::float_(32));
  options.params = {{"w", weight}};
  const BuildResult built = build(module, options);
  ASSERT_EQ(built.params().size(), 1u);
  EXPECT_TRUE(built.params()[0].second.same_as(weight));
}

TEST(Build, AParameterOfAnotherTypeIsRefused) {
  initialize();
  const IRModule module =
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3, 5), float32]) { nn.relu(%x) }");
  BuildOptions options{.context = host_context()};
  options.params = {{"x", NDArray::zeros({3, 4}, DType::float_(32))}};
  try {
    build(module, options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "parameter `x` is given as Tensor[(3, 4), float32], but `main` declares Tensor[(3, 5), float32]");
  }
}

}  // namespace
}  // namespace baton
