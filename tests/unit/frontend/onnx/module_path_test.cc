// Modules and lines of nodes, from what exporters write: texts of real files.
#include "baton/frontend/onnx/module_path.h"

#include <gmock/gmock.h>

namespace baton::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeFile node(std::string_view name, TextPairs metadata = {}) {
  NodeFile node;
  node.name = name;
  node.metadata = std::move(metadata);
  return node;
}

TEST(OnnxModulePath, ListsOfTextsArePythons) {
  EXPECT_THAT(python_texts("['', 'layer1', \"it's\"]"), ElementsAre("", "layer1", "it's"));
  EXPECT_THAT(python_texts(R"(['a\'b'])"), ElementsAre("a'b"));
  for (const char* none : {"", "[", "]", "[]", "layer1", "['open"})
    EXPECT_THAT(python_texts(none), IsEmpty()) << none;
}

TEST(OnnxModulePath, FromNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"/layer1/0/conv1/Conv", "layer1/0/conv1"},
      {"/layer1/layer1.0/conv1/Conv", "layer1/0/conv1"},  // torch's first exporter repeats the outer name
      {"/encoder/layer.11/output/MatMul_1", "encoder/layer/11/output"},
      {"StatefulPartitionedCall/net/conv2d/Conv2D", "StatefulPartitionedCall/net/conv2d"},
      {"net/a/BiasAdd;net/b/Conv2D", "net/a"},
      {"/Conv", ""},
      {"//Conv", ""},
      {"Conv_17", ""},
      {"p2o.Conv.0", ""},
      {"", ""},
  };
  for (const auto& [name, path] : cases) EXPECT_EQ(module_path(node(name), ""), path) << name;
  EXPECT_EQ(module_path(node("Conv_17"), "If_3/then_branch/"), "If_3/then_branch");
  EXPECT_EQ(module_path(node("/decoder/Conv"), "If_3/then_branch/"), "decoder");
  EXPECT_EQ(module_path(node("/\xff/Conv"), ""), "") << "what is no UTF-8 is left out";
}

TEST(OnnxModulePath, FromMetadata) {
  const TextPairs scopes = {
      {"namespace", ": net.Net/block: Block/conv: aten.conv2d.default"},
      {"pkg.torch.onnx.name_scopes", "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']"}};
  EXPECT_EQ(module_path(node("/wrong/Conv", scopes), ""), "layer1/0/conv1");
  EXPECT_EQ(module_path(node("node_Conv_3", {scopes[0]}), ""), "block");
  EXPECT_EQ(module_path(node("n", {{"namespace",
                                    ": net.Net/layer1: torch.nn.modules.container.Sequential/layer1.0: "
                                    "net.Block/conv2d: aten.conv2d.default"}}),
                        ""),
            "layer1/0");
  EXPECT_EQ(module_path(node("n", {{"namespace", "encoder/attention"}}), ""), "encoder/attention");
  EXPECT_EQ(module_path(node("n", {{"pkg.torch.onnx.class_hierarchy",
                                    "['net.Net', 'torch.nn.modules.linear.Linear', 'aten.linear.default']"}}),
                        ""),
            "Linear");
  // Of silero_vad_op18_ifless.onnx: in the model itself, and in a branch.
  EXPECT_EQ(
      module_path(node("node_Gather_3", {{"namespace",
                                          ": __main__.ONNXMerge/_local_scalar_dense: "
                                          "aten._local_scalar_dense.default"},
                                         {"pkg.torch.onnx.name_scopes", "['', '_local_scalar_dense']"}}),
                  ""),
      "");
  EXPECT_EQ(
      module_path(node("node_pad", {{"pkg.torch.onnx.name_scopes", "['pad']"}}), "node_cond__1/then_branch/"),
      "node_cond__1/then_branch");
}

SourceLine torch_line(std::string_view trace) {
  return source_line(node("n", {{"pkg.torch.onnx.stack_trace", trace}}));
}

TEST(OnnxSourceLine, IsTheInnermostOfTheUser) {
  const SourceLine line = torch_line(
      "File \"/home/me/train.py\", line 40, in forward\n    return self.layer(x)\n"
      "  File \"/home/me/net.py\", line 17, in forward\n    out = self.conv(x)\n"
      "  File \"/usr/lib/python3.11/site-packages/torch/nn/modules/conv.py\", line 5, in forward\n    return "
      "f(x)");
  EXPECT_EQ(line, (SourceLine{"/home/me/net.py", 17, "forward", "out = self.conv(x)"}));
  // Of silero_vad_op18_ifless.onnx.
  const SourceLine cell = torch_line(
      "File \"/tmp/ipykernel_6181/3806684016.py\", line 17, in forward\n"
      "    out, state = torch.cond(sr.item() == 16000, run_16k, run_8k, (x, state))\n"
      "  File \"<eval_with_key>.782\", line 14, in forward\n    pow_1 = real_part ** 2;  real_part = None");
  EXPECT_EQ(cell.file, "/tmp/ipykernel_6181/3806684016.py");
  EXPECT_EQ(cell.line, 17u);
  EXPECT_EQ(cell.text, "out, state = torch.cond(sr.item() == 16000, run_16k, run_8k, (x, state))");
}

TEST(OnnxSourceLine, OfFramesWithoutTextAndOddNames) {
  EXPECT_EQ(torch_line("File \"a\", line 3\nFile \"b c.py\", line 4, in <module>"),
            (SourceLine{"b c.py", 4, "<module>", ""}));
  EXPECT_EQ(torch_line("File \"a\", line 9\", line 4, in f\n  x").file, "a\", line 9");
  const std::string text(150, 'x');
  const std::string accents = text + "\xc3\xa9" + text;
  EXPECT_EQ(torch_line("File \"a.py\", line 1, in f\n" + accents).text.size(), 200u);
  EXPECT_LE(torch_line("File \"a.py\", line 1, in f\n" + std::string(199, 'x') + "\xc3\xa9").text.size(),
            199u)
      << "no half of a character";
  for (const char* none :
       {"", "no trace", "File \"a.py\", line x", "File \"a.py\"", "File \"\", line 3, in f",
        "File \"a.py\", line 0, in f", "File \"a.py\", line 99999999999, in f",
        "File \"/x/site-packages/t.py\", line 3, in f", ":", ":3 in f"})
    EXPECT_FALSE(torch_line(none)) << none;
}

TEST(OnnxSourceLine, OfJax) {
  EXPECT_EQ(source_line(node("n", {{"pkg.jax2onnx.stacktrace",
                                    "export.py:31 in main\nnet.py:8 in wide\n"
                                    "../venv/lib/python3.12/site-packages/jax2onnx/api.py:9 in to_onnx"}})),
            (SourceLine{"net.py", 8, "wide", ""}));
  EXPECT_EQ(
      source_line(node("n", {{"pkg.jax2onnx.jax_traceback", "net.py:12:4 (wide)\nexport.py:31:0 (main)"},
                             {"pkg.jax2onnx.stacktrace", "export.py:31 in main"}})),
      (SourceLine{"net.py", 12, "wide", ""}));
}

}  // namespace
}  // namespace baton::onnx
