// Reading ONNX files in place: messages, tensors, and what is no such file.
#include "baton/frontend/onnx/model_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "baton/frontend/onnx/tensor_data.h"
#include "baton/support/error.h"

#include "frontend/onnx/proto.h"

namespace baton::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Read from memory that lives as long as the result.
std::shared_ptr<const ModelFile> read(const std::string& text) {
  const auto owner = std::make_shared<const std::string>(text);
  return read_model_bytes(*owner, "test.onnx", owner);
}

std::string attribute(std::string_view name, const std::string& value, int kind) {
  return proto::bytes(5, proto::bytes(1, name) + value + (kind ? proto::integer(20, kind) : ""));
}

std::string small_model() {
  const std::string conv =
      proto::node("Conv", {"x", "w", ""}, {"y"},
                  proto::bytes(3, "/layer1/0/conv1/Conv") +
                      attribute("strides", proto::bytes(8, proto::varint(2) + proto::varint(2)), 7) +
                      attribute("alpha", proto::float32(2, 0.5F), 1) +
                      attribute("auto_pad", proto::bytes(4, "SAME_UPPER"), 3) +
                      proto::bytes(9, proto::bytes(1, "namespace") + proto::bytes(2, ": a/b")));
  return proto::model(
      proto::bytes(1, conv) + proto::bytes(2, "g") +
      proto::bytes(5, proto::tensor("w", 1, {2, 2}, proto::raw_data(proto::raw<float>({1, 2, 3, 4})))) +
      proto::bytes(11, proto::value("x", 1, {"batch", "3", ""})) +
      proto::bytes(12, proto::value("y", 1, {"batch", "2"})));
}

TEST(OnnxModelFile, SaysWhatItHolds) {
  const auto model = read(small_model());
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->opsets.at(""), 17);
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  const NodeFile& node = model->graph.nodes[0];
  EXPECT_EQ(node.op_type, "Conv");
  EXPECT_EQ(node.name, "/layer1/0/conv1/Conv");
  EXPECT_THAT(node.inputs, ElementsAre("x", "w", ""));
  EXPECT_THAT(node.attribute("strides")->ints, ElementsAre(2, 2));
  EXPECT_EQ(node.attribute("alpha")->f, 0.5F);
  EXPECT_EQ(node.attribute("auto_pad")->s, "SAME_UPPER");
  EXPECT_EQ(node.attribute("pads"), nullptr);
  EXPECT_EQ(text_of(node.metadata, "namespace"), ": a/b");
  const TypeFile& type = model->graph.inputs[0].type;
  ASSERT_EQ(type.dims.size(), 3u);
  EXPECT_EQ(type.dims[0].symbol, "batch");
  EXPECT_EQ(type.dims[1].value, 3);
  EXPECT_TRUE(type.dims[2].symbol.empty() && !type.dims[2].is_known);
}

TEST(OnnxModelFile, AttributesWithoutATypeHaveThatOfTheirValue) {
  const auto model = read(proto::model(proto::bytes(
      1, proto::node("Op", {}, {"y"},
                     attribute("i", proto::integer(3, -7), 0) + attribute("s", proto::bytes(4, "text"), 0) +
                         attribute("fs", proto::float32(7, 1) + proto::float32(7, 2), 0)))));
  const NodeFile& node = model->graph.nodes[0];
  EXPECT_EQ(node.attribute("i")->kind, AttributeFile::Kind::kInt);
  EXPECT_EQ(node.attribute("i")->i, -7);
  EXPECT_EQ(node.attribute("s")->kind, AttributeFile::Kind::kString);
  EXPECT_EQ(node.attribute("fs")->kind, AttributeFile::Kind::kFloats);
  EXPECT_THAT(node.attribute("fs")->floats, ElementsAre(1, 2));
}

TEST(OnnxModelFile, AFileThatIsCutOffIsRefusedOrWholeWithoutItsEnd) {
  const std::string whole = small_model();
  int refused = 0;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    try {
      read(whole.substr(0, bytes));
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("test.onnx is no ONNX file, or damaged: ")) << bytes;
      ++refused;
    }
  }
  EXPECT_GE(refused, static_cast<int>(whole.size()) - 10);  // the last field is a message of its own
}

TEST(OnnxModelFile, ErrorsSayWhere) {
  const std::string broken =
      proto::node("Conv", {}, {}, proto::bytes(3, "c1") + attribute("pads", proto::bytes(8, "\xff"), 7));
  EXPECT_THAT([&] { read(proto::model(proto::bytes(1, broken))); },
              ThrowsMessage<Error>(HasSubstr("graph: node `c1`: attribute `pads`: it ends within a number")));
  EXPECT_THAT([&] { read("Tensor[(1, 2), float32]"); }, ThrowsMessage<Error>(HasSubstr("no ONNX file")));
  EXPECT_THAT([&] { read(""); }, ThrowsMessage<Error>(HasSubstr("it has no graph")));
}

TEST(OnnxModelFile, GraphsAreNestedOnlySoDeep) {
  std::string graph;
  for (int i = 0; i < 100; ++i)
    graph = proto::bytes(1, proto::node("If", {}, {}, attribute("then_branch", proto::bytes(6, graph), 5)));
  EXPECT_THAT([&] { read(proto::model(graph)); },
              ThrowsMessage<Error>(HasSubstr("graphs are nested more than 64 deep")));
}

// ---- Tensors.

class OnnxTensors : public ::testing::Test {
 protected:
  /// The only initializer of a model that has it.
  NDArray tensor(const std::string& text) {
    const auto model = read(proto::model(proto::bytes(5, text)));
    return TensorReader(model).read(model->graph.initializers.at(0));
  }
  template <class T>
  std::vector<T> values(const std::string& text) {
    const NDArray array = tensor(text);
    const auto all = array.as<T>();
    return {all.begin(), all.end()};
  }
  void refused(const std::string& text, const char* why) {
    EXPECT_THAT([&] { tensor(text); }, ThrowsMessage<Error>(HasSubstr(why)));
  }
};

TEST_F(OnnxTensors, AreRawOrTypedNumbers) {
  EXPECT_THAT(values<float>(proto::tensor("t", 1, {2}, proto::raw_data(proto::raw<float>({1, -2})))),
              ElementsAre(1, -2));
  EXPECT_THAT(values<float>(proto::tensor("t", 1, {2}, proto::float32(4, 1) + proto::float32(4, -2))),
              ElementsAre(1, -2));
  EXPECT_THAT(values<int8_t>(proto::tensor("t", 3, {2}, proto::integer(5, -3) + proto::integer(5, 4))),
              ElementsAre(-3, 4));
  EXPECT_THAT(values<int64_t>(proto::tensor("t", 7, {2},
                                            proto::bytes(7, proto::varint(5) + proto::varint(uint64_t(-6))))),
              ElementsAre(5, -6));
  EXPECT_THAT(values<uint8_t>(proto::tensor("t", 9, {3}, proto::raw_data(std::string("\0\1\2", 3)))),
              ElementsAre(0, 1, 1));
  EXPECT_EQ(tensor(proto::tensor("t", 1, {0, 5}, "")).size(), 0);
  EXPECT_THAT(values<float>(proto::tensor("t", 1, {}, proto::float32(4, 3))), ElementsAre(3));
}

TEST_F(OnnxTensors, OfFourAndTwoBitsAreBytes) {
  // -1, 7, -8: the lowest bits first
  EXPECT_THAT(values<int8_t>(proto::tensor("t", 22, {3}, proto::raw_data("\x7f\x08"))),
              ElementsAre(-1, 7, -8));
  EXPECT_THAT(values<uint8_t>(proto::tensor("t", 21, {3}, proto::integer(5, 0x7f) + proto::integer(5, 8))),
              ElementsAre(15, 7, 8));
  EXPECT_THAT(values<int8_t>(proto::tensor("t", 26, {5}, proto::raw_data("\xe4\x02"))),
              ElementsAre(0, 1, -2, -1, -2));
}

TEST_F(OnnxTensors, DataThatDoNotFitAreRefused) {
  refused(proto::tensor("t", 1, {2}, proto::raw_data("1234567")),
          "tensor `t`: it has 7 bytes of data; float32[2] has 8");
  refused(proto::tensor("t", 1, {3}, proto::float32(4, 1)), "tensor `t`: it has 1 numbers for float32[3]");
  refused(proto::tensor("t", 1, {1}, proto::float32(4, 1) + proto::float32(4, 1)),
          "more numbers than elements");
  refused(proto::tensor("t", 1, {int64_t{1} << 40}, proto::float32(4, 1)), "1099511627776 elements");
  refused(proto::tensor("t", 1, {int64_t{1} << 40, int64_t{1} << 40}, ""), "no shape that fits into 64 bits");
  refused(proto::tensor("t", 1, {-1}, ""), "no shape");
  refused(proto::tensor("t", 8, {1}, proto::bytes(6, "text")),
          "of type string, for which Baton has no arithmetic");
  refused(proto::tensor("t", 77, {1}, ""), "of type number 77");
}

class OnnxExternal : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("baton-onnx-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model/data.bin") << proto::raw<float>({1, 2, 3, 4});
    std::ofstream(folder_ / "outside.bin") << proto::raw<float>({1, 2});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  NDArray tensor(const std::string& location, const std::string& offset, const std::string& length) {
    std::string data = proto::integer(14, 1);
    const auto pair = [&](const char* key, const std::string& value) {
      if (!value.empty()) data += proto::bytes(13, proto::bytes(1, key) + proto::bytes(2, value));
    };
    pair("location", location), pair("offset", offset), pair("length", length);
    std::ofstream(folder_ / "model/m.onnx")
        << proto::model(proto::bytes(5, proto::tensor("w", 1, {2}, data)));
    const auto model = read_model_file((folder_ / "model/m.onnx").string());
    return TensorReader(model).read(model->graph.initializers[0]);
  }
  void refused(const std::string& location, const std::string& offset, const std::string& length,
               const char* why) {
    EXPECT_THAT([&] { tensor(location, offset, length); }, ThrowsMessage<Error>(HasSubstr(why)));
  }
  std::filesystem::path folder_;
};

TEST_F(OnnxExternal, DataAreReadFromTheModelsFolder) {
  const NDArray array = tensor("data.bin", "8", "8");
  EXPECT_THAT(array.as<float>(), ElementsAre(3, 4));
  EXPECT_THAT(tensor("./data.bin", "", "8").as<float>(), ElementsAre(1, 2));
}

TEST_F(OnnxExternal, OthersAreRefused) {
  refused("../outside.bin", "", "", "leaves the model's folder");
  refused("a/../../outside.bin", "", "", "leaves the model's folder");
  refused((folder_ / "outside.bin").string(), "", "", "an absolute path");
  refused("none.bin", "", "", "none.bin: cannot be read");
  refused("", "", "", "does not say where");
  refused("data.bin", "17", "", "begin at byte 17");
  refused("data.bin", "8", "9", "9 bytes from 8 on");
  refused("data.bin", "0x8", "", "no number");
  refused("data.bin", "", "", "16 bytes of data; float32[2] has 8");
  std::filesystem::create_symlink("../outside.bin", folder_ / "model/link.bin");
  refused("link.bin", "", "", "behind a symbolic link");
  std::filesystem::create_directory_symlink("..", folder_ / "model/up");
  refused("up/outside.bin", "", "", "behind a symbolic link");
}

}  // namespace
}  // namespace baton::onnx
