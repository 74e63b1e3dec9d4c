// Programs over the processor and simulated devices: right numbers, and times that are those of the sheets.
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/codegen/sim/sheet.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/report.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/tables.h"
#include "baton/profile/write/trace.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "driver/device_programs.h"
#include "properties/module_value.h"
#include "properties/random_module.h"

namespace baton {
namespace {

using testing::HasSubstr;

/// A file with a sheet, removed with this.
class SheetFile {
 public:
  SheetFile(const std::string& name, const std::string& json)
      : path_(testing::TempDir() + "sheet-" + name + "-" + std::to_string(getpid()) + ".json") {
    write(json);
  }
  ~SheetFile() { std::filesystem::remove(path_); }
  SheetFile(const SheetFile&) = delete;
  SheetFile& operator=(const SheetFile&) = delete;
  void write(const std::string& json) const { std::ofstream(path_) << json; }
  std::string target() const { return "sim -sheet=" + path_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// 2 Gop/s for products and 1 for the rest, 4 GB/s of memory, launches of 3 us, a link of 5 us and 2 GB/s.
std::string sheet(const std::string& name, int64_t memory_bytes = 1 << 20) {
  return R"({"name": ")" + name + R"(", "doc": "for tests", "memory": {"bytes": )" +
         std::to_string(memory_bytes) +
         R"(, "gbytes_per_s": 4}, "launch_us": 3, "link": {"latency_us": 5, "gbytes_per_s": 2},
  "element_types": ["float32"], "gops": {"dense": {"float32": 2}, "elementwise": 1, "move": true, "nn.softmax": 1}})";
}

std::string layers(int on) {
  const std::string place = ", virtual_device=VirtualDevice(device_type=";
  return R"(#[version = "0.0.5"]
def @main(%x: Tensor[(64, 48), float32], %w: Tensor[(32, 48), float32]) {
  %0 = exp(%x);
  %1 = on_device(%0)" +
         place + R"(1, virtual_device_id=0));
  %2 = nn.dense(%1, %w, units=32);
  %3 = nn.relu(%2);
  %4 = on_device(%3)" +
         place + std::to_string(on) + R"(, virtual_device_id=0));
  nn.softmax(%4)
}
)";
}

int type_of_target(const std::string& target) {
  initialize();
  return Target::parse(target)->device_type();
}

BuildResult built_layers(const std::string& target) {
  return build(parse_module(layers(type_of_target(target)), "layers.relay"), on({"llvm", target}));
}

std::vector<NDArray> expected_layers() {
  std::string text = layers(1);
  return outputs_of(build(parse_module(text, "layers.relay"), on({"llvm"})));
}

TEST(Sim, SixSheetsShip) {
  initialize();
  std::vector<std::string> names;
  for (const ShippedSheet& each : shipped_sheets()) {
    names.emplace_back(each.name);
    const SimSheet sheet = parse_sim_sheet(each.json, names.back());
    EXPECT_EQ(sheet.name, each.name);
    const TargetRef target = Target::parse("sim -sheet=" + names.back());
    EXPECT_EQ(target->kind, "sim_" + names.back());
    EXPECT_GE(target->device_type(), BATON_FIRST_SIMULATED_KIND);
    const BackendRef backend = backend_of_kind(target->kind);
    ASSERT_TRUE(backend);
    EXPECT_FALSE(backend->operators.empty());
  }
  EXPECT_THAT(names, testing::ElementsAre("big_core", "dsp", "fast_gpu", "in_memory", "npu", "slow_gpu"));
}

TEST(Sim, TimesAreThoseOfTheSheetForKernelsAndCopies) {
  const SheetFile file("times", sheet("times"));
  const BuildResult built = built_layers(file.target());
  EXPECT_EQ(kernels_on(built, "sim_times"), 1);
  expect_conserved(built);
  const auto executor = make_executor(built);
  EXPECT_LT(properties::difference(expected_layers(), outputs_of(*executor)), 1e-5);
  const auto profile = executor->run_profiled(2);
  ASSERT_TRUE(profile.ok()) << profile.status().message;
  int kernels = 0, copies = 0;
  double sum_ns = 0;
  for (size_t i = 0; i < profile->nodes.size(); ++i) {
    const PlanNode& node = executor->plan().nodes[profile->nodes[i]];
    sum_ns += profile->node_ns[i][0];
    if (!executor->plan().is_simulated(profile->nodes[i])) continue;
    EXPECT_EQ(profile->node_ns[i][0], profile->node_ns[i][1]);
    if (node.kind == PlanNode::Kind::kCopy) {
      const auto bytes = static_cast<double>(executor->plan().entries[node.first_entry].bytes());
      EXPECT_NEAR(profile->node_ns[i][0], 5000 + bytes / 2, 1e-6);
      ++copies;
    } else {
      // Operations: 2 * 64 * 48 * 32 by 2 per ns, and 64 * 32 by 1; bytes by 4 per ns are fewer.
      EXPECT_NEAR(profile->node_ns[i][0], 3000 + 64 * 48 * 32 + 64 * 32, 1e-6);
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 1);
  EXPECT_EQ(copies, 2);
  EXPECT_GE(profile->total_ns[0], sum_ns) << "a run has the simulated time, too";
}

TEST(Sim, EveryOutputSaysThatItIsSimulated) {
  const BuildResult built = built_layers("sim -sheet=fast_gpu");
  const auto executor = make_executor(built);
  outputs_of(*executor);
  const auto profile = executor->run_profiled(2);
  ASSERT_TRUE(profile.ok()) << profile.status().message;
  FusedTimes times;
  times.nodes = profile->nodes;
  for (const auto& row : profile->node_ns) times.node_us.push_back({row[0] / 1e3, row[1] / 1e3});
  times.plain_us = times.profiled_us = {profile->total_ns[0] / 1e3};
  const ProfileReport report = make_report(report_source(built), executor->plan(), times);
  int simulated = 0;
  for (const KernelRow& row : report.kernels) {
    EXPECT_FALSE(row.origins.empty() && row.made_for.empty()) << row.func_name;
    if (row.simulated.empty()) continue;
    ++simulated;
    EXPECT_EQ(row.simulated, "sim_fast_gpu");
    EXPECT_THAT(row.title, testing::StartsWith("simulated: "));
    EXPECT_GT(row.median_us, 0);
  }
  EXPECT_EQ(simulated, 3) << "a kernel, and copies there and back";
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("simulated, not measured: 3 rows of sim_fast_gpu")));
  EXPECT_THAT(trace_json(report, 0), HasSubstr(R"("simulated":"sim_fast_gpu")"));
  const auto table = kernels_table(report);
  EXPECT_TRUE(std::ranges::any_of(table.columns,
                                  [](const auto& each) { return each.name == std::string("simulated"); }));
}

TEST(Sim, MeasuredTimesAreSimulatedOnes) {
  const BuildResult built = built_layers("sim -sheet=slow_gpu");
  const auto executor = make_executor(built);
  outputs_of(*executor);
  MeasureOptions options;
  options.min_runs = 4;
  options.rounds = 2;
  options.min_seconds = 0.02;
  const FusedTimes times = measure_fused(*executor, options);
  ASSERT_FALSE(times.node_times.empty());
  double simulated_us = 0;
  for (size_t i = 0; i < times.nodes.size(); ++i) {
    if (!executor->plan().is_simulated(times.nodes[i])) continue;
    simulated_us += times.node_times[i].us;
    EXPECT_TRUE(times.node_times[i].under_load.empty()) << "a busy machine does not change it";
  }
  EXPECT_GT(simulated_us, 8) << "launch and link of the sheet";
  for (const double us : times.plain_us) EXPECT_GT(us, simulated_us);
}

TEST(Sim, AnArtifactRunsByThePlugInAlone) {
  const std::string path = testing::TempDir() + "sim-" + std::to_string(getpid()) + ".baton";
  const BuildResult built = built_layers("sim -sheet=big_core");
  write_artifact(built, path);
  auto model = Model::load(path);
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_THAT((*model)->artifact().names(), testing::Contains("plugin/sim_big_core"));
  EXPECT_EQ(properties::difference(outputs_of(built), outputs_of((*model)->executor())), 0);
  std::filesystem::remove(path);
}

TEST(Sim, RandomProgramsScatteredOverThreeOfThem) {
  const int devices[] = {1, type_of_target("sim -sheet=big_core"), type_of_target("sim -sheet=fast_gpu"),
                         type_of_target("sim -sheet=slow_gpu")};
  int looked_at = 0;
  for (uint64_t seed = 0; looked_at < 8 && seed < 200; ++seed) {
    const IRModule module = infer_types(parse_module(properties::random_module(seed), "random.relay"));
    if (!is_straight(module)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const IRModule scattered = Scatter::over(module, [&](const Expr&) { return devices[random() % 4]; });
    BuildResult split;
    try {
      split =
          build(scattered, on({"llvm", "sim -sheet=big_core", "sim -sheet=fast_gpu", "sim -sheet=slow_gpu"}));
    } catch (const NotSupported& refusal) {
      EXPECT_THAT(refusal.what(), HasSubstr("does not take")) << "elements of a type that a sheet lacks";
      continue;
    }
    ++looked_at;
    expect_conserved(split);
    expect_same_side_by_side(split);
    EXPECT_LT(properties::difference(outputs_of(build(module, on({"llvm"}))), outputs_of(split)), 1e-5);
  }
  EXPECT_EQ(looked_at, 8);
}

TEST(Sim, ExhaustedMemoryIsAnErrorAndTheDeviceGoesOn) {
  // The dense layer's tensors have 26624 bytes, and each is readable for a vector past its end.
  const SheetFile file("small", sheet("small", 26700));
  const BuildResult built = built_layers(file.target());
  try {
    make_executor(built);
    FAIL() << "it has room for two of three tensors only";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the device `small (simulated)` has no memory for "));
    EXPECT_THAT(error.what(), HasSubstr("of its 26700 bytes are in use"));
  }
  const IRModule one =
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(8,), float32]) { exp(%x) }", "one.relay");
  const BuildResult fits = build(one, on({file.target()}));
  for (int i = 0; i < 50; ++i) outputs_of(fits);  // memory is given back
  EXPECT_EQ(kernels_on(fits, "sim_small"), 1);
}

TEST(Sim, OperatorsThatTheSheetLacksAreRefusedWithTheReason) {
  initialize();
  const auto call_of = [](const std::string& body) {
    const IRModule module =
        infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" + body, "call.relay"));
    return as_ref<CallNode>(module->find("main")->body());
  };
  const auto why = [&](const char* sheet, const std::string& body) {
    return refusal_of_call(*find_backend(sheet), *call_of(body));
  };
  const std::string dense =
      "%x: Tensor[(4, 8), float32], %w: Tensor[(2, 8), float32]) { nn.dense(%x, %w, units=2) }";
  const std::string bytes =
      "%x: Tensor[(4, 8), int8], %w: Tensor[(2, 8), int8]) { nn.dense(%x, %w, units=2, out_dtype=\"int32\") "
      "}";
  EXPECT_EQ(why("sim_in_memory", dense), "");
  EXPECT_EQ(why("sim_npu", dense), "npu has no elements of type float32");
  EXPECT_EQ(why("sim_npu", bytes), "");
  EXPECT_EQ(why("sim_in_memory", "%x: Tensor[(4, 8), float32]) { exp(%x) }"),
            "`exp` is not mapped to sim_in_memory");
  EXPECT_EQ(
      why("sim_npu", "%x: Tensor[(4, 8), int16], %w: Tensor[(2, 8), int16]) { nn.dense(%x, %w, units=2) }"),
      "npu does not compute `nn.dense` of int16");
  EXPECT_THAT(why("sim_dsp", "%x: Tensor[(1024, 1024), float32]) { exp(%x) }"),
              HasSubstr("its tensors have 8388608 bytes, the memory of dsp 2097152"));
  // A device that generates code takes what its kernels take.
  EXPECT_EQ(why("mirror", dense), "");
  const IRModule floats = parse_module(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(8,), float32]) { exp(%x) }", "floats.relay");
  EXPECT_THROW(build(floats, on({"sim -sheet=npu"})), NotSupported);
}

TEST(Sim, SheetsWithNonsenseSayWhatIsWrong) {
  initialize();
  const std::string good = sheet("odd");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\n\"name\": \n}", "it is no JSON: line 3, column 1: expected a value, found `}`"},
      {"[]", "it is no JSON object"},
      {with("\"doc\"", "\"dock\""), "there is no key `dock`; did you mean `doc`?"},
      {with("\"launch_us\": 3, ", ""), "the key `launch_us` is missing"},
      {with("\"launch_us\": 3", "\"launch_us\": 3, \"launch_us\": 4"), "the key `launch_us` is there twice"},
      {with("\"launch_us\": 3", "\"launch_us\": -3"), "`launch_us` is -3, not 0 or more"},
      {with("\"launch_us\": 3", "\"launch_us\": \"3\""), "`launch_us` is no number: \"3\""},
      {with("\"launch_us\": 3", "\"launch_us\": 1e300"), "`launch_us` is 1e+300"},
      {with("\"gbytes_per_s\": 2", "\"gbytes_per_s\": 0"), "`link.gbytes_per_s` is 0, not more than 0"},
      {with("\"bytes\": 1048576", "\"bytes\": 10.5"), "`memory.bytes` is not an integer: 10.5"},
      {with("{\"bytes\": 1048576, \"gbytes_per_s\": 4}", "7"), "`memory` is no object: 7"},
      {with("\"odd\"", "\"Odd one\""), "`name` is \"Odd one\"; a name has 1 to 20"},
      {with("[\"float32\"]", "[\"float33x\"]"), "`element_types` has \"float33x\", which is no element type"},
      {with("\"nn.softmax\"", "\"nn.sofmax\""),
       "there is no operator `nn.sofmax` and no class of that name; did you mean `nn.softmax`?"},
      {with("{\"float32\": 2}", "{\"int8\": 2}"), "`gops.dense.int8`: int8 is not among its element types"},
      {with("{\"float32\": 2}", "{\"float32\": -2}"), "`gops.dense.float32` is -2, not more than 0"},
      {with("true", "false"), "`gops.move` is false; it is a number"},
      {with(good.substr(good.find("\"gops\"")), "\"gops\": {}}"), "`gops` names no operator"},
  };
  for (const auto& [json, message] : cases) {
    try {
      parse_sim_sheet(json, "odd.json");
      ADD_FAILURE() << "accepted: " << json;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("device sheet odd.json: "));
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
}

TEST(Sim, TargetsNameSheetsThatExist) {
  initialize();
  const auto error_of = [](const std::string& target) -> std::string {
    try {
      Target::parse(target);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("sim"),
              HasSubstr("target \"sim\" needs a device sheet: write sim -sheet=NAME (big_core, "));
  EXPECT_THAT(error_of("sim -sheet=npo"), HasSubstr("there is no device sheet `npo`; did you mean `npu`?"));
  EXPECT_THAT(error_of("sim -sheet=/no/such.json"), HasSubstr("device sheet /no/such.json cannot be read: "));
  const SheetFile shipped("shipped", sheet("npu")), a("a", sheet("twice")), b("b", sheet("twice", 4096));
  EXPECT_THAT(error_of(shipped.target()), HasSubstr("a sheet `npu` ships with Baton"));
  EXPECT_EQ(error_of(a.target()), "");
  EXPECT_THAT(error_of(b.target()), HasSubstr("a sheet `twice` was read from " + a.path()));
}

TEST(Sim, AChangedFileIsAnotherDevice) {
  const SheetFile file("changed", sheet("changed"));
  const int before = type_of_target(file.target());
  const BuildResult old = built_layers(file.target());
  file.write(sheet("changed", 2 << 20));
  EXPECT_NE(type_of_target(file.target()), before);
  const BuildResult fresh = built_layers(file.target());
  EXPECT_EQ(properties::difference(outputs_of(old), outputs_of(fresh)), 0);
}

TEST(Sim, DamagedCodeIsRefused) {
  const BuildResult built = built_layers("sim -sheet=fast_gpu");
  const std::string& blob = built.code.at(1).blob;
  const Plugin& plugin = **Plugin::find("sim");
  const auto load = [&](const std::string& bytes) {
    return PluginModule::load(plugin, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})
        .status()
        .message;
  };
  EXPECT_EQ(load(blob), "");
  EXPECT_THAT(load("nonsense"), HasSubstr("it is not code for a simulated device"));
  for (size_t length = 8; length < 400; length += 7)
    EXPECT_THAT(load(blob.substr(0, length)), HasSubstr("cannot load"));
  std::string newer = blob;
  newer[8] = 9;
  EXPECT_THAT(load(newer), HasSubstr("it was made for version 9 of the format"));
}

TEST(Sim, ResNet18IsRight) {
  workloads::ImageNetOptions image;
  image.image_shape = {3, 32, 32};
  image.num_classes = 10;
  const IRModule module = infer_types(workloads::resnet(18, image));
  BuildOptions one = on({"llvm"}), other = on({"sim -sheet=fast_gpu"});
  one.params = other.params = weights_by_rule(module);
  const BuildResult built = build(module, other);
  expect_conserved(built);
  expect_same_side_by_side(built);
  EXPECT_LT(properties::difference(outputs_of(build(module, one)), outputs_of(built)), 1e-4);
}

}  // namespace
}  // namespace baton
