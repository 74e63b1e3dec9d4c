#include "baton/pass/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/inspect.h"
#include "baton/pass/pass_list.h"
#include "baton/support/diagnostic.h"
#include "baton/text/origin_label.h"
#include "baton/text/parser.h"

#include "transform/transform_test.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

std::string traced(const std::string& program, const std::string& passes) {
  IRModule module = typed_module(program);
  const auto context = test_context(3);
  const auto trace = std::make_shared<PassTrace>();
  context->instruments.push_back(trace);
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);
  for (const Pass& pass : parse_passes(passes)) module = (*pass)(module, under);
  return trace_text(trace->steps());
}

constexpr const char* kNet =
    "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %b: Tensor[(4), "
    "float32]) {\n"
    "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);\n"
    "  %1 = nn.bias_add(%0, %b);\n"
    "  %2 = nn.dropout(%1, rate=0.5f);\n"
    "  nn.relu(%2.0)\n"
    "}";

TEST(Trace, SaysWhatWasMadeMergedAndRetired) {
  const std::string text = traced(kNet, "SimplifyInference,CanonicalizeOps,FuseOps");
  EXPECT_THAT(text, HasSubstr("  retired  %2 nn.dropout: "));
  EXPECT_THAT(text, HasSubstr("  split    %1 nn.bias_add: nn.bias_add -> expand_dims, add\n"));
  EXPECT_THAT(text, HasSubstr("  merged   %0 nn.conv2d, %1 nn.bias_add, "));
  EXPECT_THAT(text, HasSubstr(" nn.relu: fn[nn.conv2d, expand_dims, add, nn.relu]\n"));
  EXPECT_THAT(text, Not(HasSubstr("InferType")));  // it changes nothing
}

TEST(Trace, AttributesThatDifferAreShown) {
  const std::string text = traced(
      kNet, "CanonicalizeOps,ConvertLayout(desired_layouts=[[\"nn.conv2d\", [\"NHWC\", \"default\"]]])");
  EXPECT_THAT(text, HasSubstr("data_layout \"NCHW\" -> \"NHWC\""));
  EXPECT_THAT(text, HasSubstr("  added    layout_transform for %0 nn.conv2d: "));
}

TEST(Trace, EqualOperatorsBecomeOne) {
  const std::string text =
      traced("def @main(%x: Tensor[(3), float32]) { %0 = exp(%x);\n %1 = exp(%x);\n add(%0, %1) }",
             "EliminateCommonSubexpr");
  EXPECT_THAT(text, HasSubstr("merged   "));
  EXPECT_THAT(text, HasSubstr("exp, %1 exp: 2 x exp -> exp\n"));
}

TEST(Trace, IsReadyAgainAfterAPassThatThrows) {
  IRModule module = typed_module(kNet);
  const auto trace = std::make_shared<PassTrace>();
  const auto fails =
      module_pass({0, "Fails", {}}, [](IRModule, const PassContext&) -> IRModule { throw Error("no"); });
  {
    const auto context = test_context(3);
    context->instruments.push_back(trace);
    EXPECT_THROW(
        {
          const BuildContext under = host_context().with_passes(context);
          const InstrumentScope scope(under.passes);
          (*fails)(module, under);
        },
        Error);
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    (*make_pass("FuseOps"))(module, under);
  }
  ASSERT_EQ(trace->steps().size(), 3u);
  EXPECT_EQ(trace->steps()[1].pass, "FuseOps");
  EXPECT_EQ(trace->steps()[1].depth, 0);
  EXPECT_EQ(trace->steps()[2].depth, 1);  // InferType, inside it
}

TEST(PassList, ReadsNamesAndArguments) {
  initialize();
  const std::vector<Pass> passes =
      parse_passes("InferType, FuseOps(fuse_opt_level=0) ,SplitArgs(max_function_args=2)");
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[1]->info().name, "FuseOps");
  EXPECT_THAT([] { parse_passes("InferType,,FuseOps"); },
              ThrowsMessage<UsageError>(HasSubstr("a name is missing")));
  EXPECT_THAT([] { parse_passes("FuseOps(fuse_opt_level=0"); },
              ThrowsMessage<UsageError>(HasSubstr("no closing parenthesis")));
  EXPECT_THAT([] { parse_passes("FuseOp"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean `FuseOps`?")));
  EXPECT_THROW(parse_passes("FuseOps(fuse_opt_level=)"), Error);
}

// The error names the passes that it came through, innermost first; the program is as it was.
TEST(PassErrors, NameThePass) {
  const IRModule module = typed_module(kNet);
  const Function before = module->find("main");
  const auto fails = module_pass({0, "Fails", {}}, [](IRModule given, const PassContext&) -> IRModule {
    given->remove("main");
    throw Error("cannot go on");
  });
  EXPECT_THAT([&] { (*sequential({fails}, "Outer"))(module, host_context()); },
              ThrowsMessage<Error>("cannot go on\n  in pass Fails, inside Outer"));
  EXPECT_EQ(module->find("main"), before);
  // Wrong types that a pass made are found by InferType, inside it.
  const auto breaks = function_pass({0, "Breaks", {}}, [](const Function& function, const IRModule&,
                                                          const PassContext&) {
    const OriginScope scope(function->body()->origins());
    return make_function(function->params(), call("nn.dense", {function->params()[0], function->params()[0]}),
                         {}, {}, NodeInfo(function->origins()));
  });
  EXPECT_THAT([&] { (*breaks)(module, host_context()); },
              ThrowsMessage<DiagnosticError>(HasSubstr("\n  in pass InferType, inside Breaks")));
  EXPECT_THAT(
      [&] {
        (*make_pass("InferType"))(
            parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) { nn.dense(%x, %x) }"),
            host_context());
      },
      ThrowsMessage<DiagnosticError>(Not(HasSubstr("in pass"))));
}

TEST(OriginLabel, IsTheNameInTheText) {
  initialize();
  const IRModule module = parse_module(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3), float32]) {\n  let %a: Tensor[(3), float32] = "
      "exp(%x);\n  %0 = tanh(abs(%a));\n  negative(%0)\n}");
  const OriginTable& table = module->origins();
  std::vector<std::string> labels;
  for (uint32_t i = 0; i < table.size(); ++i) labels.push_back(origin_label(table.at(OriginId(i))));
  EXPECT_THAT(labels, ::testing::UnorderedElementsAre("%a exp", "4:13 abs", "%0 tanh", "5:3 negative"));
  EXPECT_TRUE(means_origin("5", table.at(OriginId(3))));
  EXPECT_TRUE(means_origin("negative", table.at(OriginId(3))));
  EXPECT_FALSE(means_origin("%0", table.at(OriginId(3))));
}

TEST(OriginLabel, IsTakenAsReportsWriteIt) {
  const OperatorNames conv{"nn.conv2d", "%3", "", 29, 8}, built{"add", "net.py:7", "", 7, 0};
  for (const char* text : {"line 29", "nn.conv2d line 29", "conv2d, line 29", "line 29:8",
                           "conv2d 3x3/2 64->128 @56 + batch_norm + relu, line 29"})
    EXPECT_TRUE(means_operator(text, conv)) << text;
  for (const char* text : {"line 2", "line 290", "relu, line 29", "relu line 29", "line", "line 29, conv2d",
                           "row 29", "conv2d line 28", " 29", ", line 29x"})
    EXPECT_FALSE(means_operator(text, conv)) << text;
  EXPECT_TRUE(means_operator("add net.py:7", built));
  EXPECT_TRUE(means_operator("add + relu, net.py:7", built));
  EXPECT_FALSE(means_operator("relu net.py:7", built));
  const OperatorNames helped{"nn.conv2d", "net.py:7", "net.py:50 > net.py:31", 7, 0};
  for (const char* text :
       {"net.py:50", "net.py:31", "net.py:7", "net.py:7 from net.py:31", "net.py:7 from :31",
        "conv2d 3x3 8->8 @4 + relu, net.py:7 from net.py:31", "net.py:50 > net.py:31"})
    EXPECT_TRUE(means_operator(text, helped)) << text;
  for (const char* text : {"net.py:7 from net.py:50", "net.py:7 from net.py:3", "net.py:7 from :50",
                           "net.py:7 from :1", "relu, net.py:7 from net.py:31", "net.py:5", "net.py:7 from "})
    EXPECT_FALSE(means_operator(text, helped)) << text;
}

}  // namespace
}  // namespace baton
