#include "baton/runtime/plugin.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/runtime/artifact.h"
#include "baton/runtime/c_api.h"
#include "baton/runtime/model.h"

#include "changed_setting.h"
#include "runtime/mirror.h"
#include "runtime/plan_text.h"

namespace baton {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Plugin, IsFoundByNameOnce) {
  const auto found = Plugin::find("mirror");
  ASSERT_TRUE(found.ok()) << found.status().message;
  EXPECT_EQ((*found)->name(), "mirror");
  EXPECT_EQ((*found)->device_of_kind(kMirrorKind), 0);
  EXPECT_EQ((*found)->device_of_kind(2), -1);
  EXPECT_EQ(*Plugin::find("mirror"), *found);
  const auto path = std::string(build_dir()) + "/lib/libbaton_plugin_mirror.so";
  EXPECT_EQ(*Plugin::load(path), *found);
  EXPECT_EQ(baton_plugin_load(path.c_str()), 0);
  EXPECT_THAT(Plugin::loaded(), ::testing::Contains(*found));
}

TEST(Plugin, TheProcessorFillsTheSameTable) {
  const baton_backend& table = processor().table();
  EXPECT_EQ(processor().device_of_kind(1), 0);
  uint64_t a = 0, b = 0;
  ASSERT_EQ(table.allocate(0, 8, &a), 0);
  ASSERT_EQ(table.allocate(0, 8, &b), 0);
  const double value = 2.5;
  double back = 0;
  void* queue = nullptr;
  ASSERT_EQ(table.queue_create(0, &queue), 0);
  EXPECT_EQ(table.copy(queue, BATON_HOST, reinterpret_cast<uintptr_t>(&value), 0, a, 8), 0);
  EXPECT_EQ(table.copy(queue, 0, a, 0, b, 8), 0);
  EXPECT_EQ(table.copy(queue, 0, b, BATON_HOST, reinterpret_cast<uintptr_t>(&back), 8), 0);
  EXPECT_EQ(back, value);
  void *start = nullptr, *stop = nullptr;
  ASSERT_EQ(table.event_create(queue, &start), 0);
  ASSERT_EQ(table.event_create(queue, &stop), 0);
  EXPECT_EQ(table.event_record(start, queue), 0);
  EXPECT_EQ(table.event_record(stop, queue), 0);
  double ns = -1;
  EXPECT_EQ(table.event_ns(start, stop, &ns), 0);
  EXPECT_GE(ns, 0);
  table.event_destroy(start);
  table.event_destroy(stop);
  EXPECT_EQ(table.queue_wait(queue), 0);
  table.queue_destroy(queue);
  table.release(0, a);
  table.release(0, b);
  EXPECT_EQ(processor().table().allocate(0, SIZE_MAX / 2, &a), -1);
  EXPECT_THAT(processor().reason(), StartsWith(": no memory for "));
}

TEST(Plugin, SaysWhatIsMissing) {
  EXPECT_THAT(
      Plugin::find("no_such").status().message,
      ::testing::AllOf(StartsWith("there is no plug-in `no_such` here: no libbaton_plugin_no_such.so in "),
                       EndsWith(" (the environment variable BATON_PLUGINS names more folders)")));
  EXPECT_THAT(Plugin::load("/no/such.so").status().message,
              StartsWith("cannot load the plug-in `/no/such.so`: "));
  const std::string kernels = std::string(build_dir()) + "/generated/test_kernels.so";
  EXPECT_EQ(Plugin::load(kernels).status().message,
            "the library `" + kernels + "` is no plug-in of Baton (it exports no baton_backend_entry)");
  EXPECT_EQ(baton_plugin_load(nullptr), BATON_ERROR_ARGUMENT);

  baton_backend table = mirror_plugin().table();
  table.abi_version = 7;
  EXPECT_EQ(
      Plugin::add(table).status().message,
      "the plug-in in the program was built for version 7 of the interface of backends, this runtime has 1: "
      "build it again with this runtime's headers");
  table = mirror_plugin().table();
  table.copy = nullptr;
  EXPECT_EQ(Plugin::add(table).status().message, "the plug-in in the program has no function `copy`");
  table = mirror_plugin().table();
  table.name = "";
  EXPECT_EQ(Plugin::add(table).status().message, "the plug-in in the program has no name");
  table = mirror_plugin().table();
  EXPECT_EQ(Plugin::add(table).status().message,
            "the plug-in in the program is called `mirror`, and another of that name is loaded already");
}

TEST(Plugin, ALibraryUnderAnotherNameIsRefused) {
  const std::filesystem::path folder = ::testing::TempDir() + "baton-plugins";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(std::string(build_dir()) + "/lib/libbaton_plugin_mirror.so",
                             folder / "libbaton_plugin_looking_glass.so",
                             std::filesystem::copy_options::overwrite_existing);
  const ChangedSetting changed(&Environment::plugins, "/nowhere::" + folder.string());
  (void)mirror_plugin();
  EXPECT_THAT(Plugin::find("looking_glass").status().message,
              HasSubstr("is called `mirror`, and another of that name is loaded already"));
  std::filesystem::remove_all(folder);
}

/// x + 1 on the processor, copied, + 1 on mirror
void write_model(const std::string& path, const std::string& backend, uint32_t abi, const std::string& blob) {
  PlanText text;
  text.input("x", {"[3]", 0}).call("a", "add_one", "[0, 0, 0]", {{"[3]", 1}});
  text.call("copy", "__copy", "[1, 0, 0]", {{"[3]", 2, "float32", kMirrorKind}});
  text.call("b", "add_one", "[2, 0, 0]", {{"[3]", 3, "float32", kMirrorKind}},
            ", \"backend\": \"" + backend + "\"");
  ArtifactWriter writer;
  writer.add(section::kPlan, text.text("[3, 0, 0]"));
  writer.add(section::kKernels, test_kernels_blob());
  writer.add_plugin(backend, abi, blob);
  ASSERT_TRUE(writer.write(path).ok());
}

TEST(Plugin, AnArtifactHasASectionForEach) {
  const std::string path = ::testing::TempDir() + "plugins-" + std::to_string(getpid()) + ".baton";
  write_model(path, "mirror", BATON_BACKEND_ABI, test_kernels_blob());
  const auto artifact = Artifact::open(path);
  ASSERT_TRUE(artifact.ok());
  EXPECT_TRUE((*artifact)->has("plugin/mirror"));
  const auto codes = (*artifact)->plugins();
  ASSERT_TRUE(codes.ok());
  ASSERT_EQ(codes->size(), 1u);
  EXPECT_EQ((*codes)[0].backend, "mirror");
  EXPECT_EQ((*codes)[0].blob.size(), test_kernels_blob().size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*codes)[0].blob.data()) % 64, 0u);

  auto model = Model::load(path);
  ASSERT_TRUE(model.ok()) << model.status().message;
  const auto another = (*model)->another_executor();
  ASSERT_TRUE(another.ok());
  for (Executor* executor : {&(*model)->executor(), another->get()}) {
    ASSERT_TRUE(executor->run().ok());
    EXPECT_EQ(executor->output(0).as<float>()[2], 2);
  }
  baton_model* by_c = baton_model_load(path.c_str());
  ASSERT_NE(by_c, nullptr) << baton_last_error();
  ASSERT_EQ(baton_run(by_c), 0);
  float out[3];
  ASSERT_EQ(baton_get_output(by_c, 0, out, sizeof out), 0);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(static_cast<const float*>(baton_output_data(by_c, 0, nullptr))[1], 2);
  baton_stream* stream = baton_stream_create(by_c, 0);
  ASSERT_NE(stream, nullptr) << baton_last_error();
  EXPECT_EQ(baton_stream_get_output(stream, 0, out, sizeof out), BATON_ERROR_ARGUMENT);
  const int instances = baton_stream_instances(stream);
  EXPECT_GT(instances, 1);
  for (int i = 0; i < instances + 2; ++i) {
    if (i >= instances) {
      EXPECT_EQ(baton_stream_start(stream), BATON_ERROR_ARGUMENT) << "all are on the way";
      EXPECT_EQ(baton_stream_set_input(stream, 0, out, sizeof out), BATON_ERROR_ARGUMENT);
      ASSERT_EQ(baton_stream_finish(stream), 0) << baton_last_error();
      ASSERT_EQ(baton_stream_get_output(stream, 0, out, sizeof out), 0);
      EXPECT_EQ(out[0], static_cast<float>(i - instances + 2));
    }
    const auto value = static_cast<float>(i);
    const float x[3] = {value, value, value};
    ASSERT_EQ(baton_stream_set_input(stream, 0, x, sizeof x), 0) << baton_last_error();
    ASSERT_EQ(baton_stream_start(stream), 0);
  }
  EXPECT_EQ(baton_stream_get_output(stream, 1, out, sizeof out), BATON_ERROR_ARGUMENT);
  baton_stream_free(stream);
  EXPECT_EQ(baton_stream_create(by_c, -1), nullptr);
  baton_model_free(by_c);

  write_model(path, "npu", BATON_BACKEND_ABI, "code");
  EXPECT_THAT(Model::load(path).status().message,
              StartsWith("the model has code for the backend `npu`: there is no plug-in `npu` here: no "
                         "libbaton_plugin_npu.so in "));
  write_model(path, "mirror", 9, test_kernels_blob());
  EXPECT_EQ(
      Model::load(path).status().message,
      "the model's code for `mirror` was built for version 9 of the interface of backends, this runtime has "
      "1: build the model again");
  write_model(path, "mirror", BATON_BACKEND_ABI, "no code");
  EXPECT_THAT(Model::load(path).status().message,
              StartsWith("the plug-in `mirror` cannot load the model's code for it: "));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace baton
