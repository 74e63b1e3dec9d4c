// The walk-through of the project's documents: VGG-11 goes to "cuda", one step after the other, and every
// text comes out as TVM 0.11.1 printed it.
#include <gtest/gtest.h>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/pass/origin_verifier.h"
#include "baton/text/printer.h"

#include "byoc/called.h"
#include "text/reference.h"

namespace baton {
namespace {

TEST(SeedByoc, Vgg11ComesOutAsInTheDocument) {
  initialize();
  std::map<std::string, std::string> texts;
  for (const auto& one : text::reference("seed.jsonl"))
    if (one.contains("astext")) texts[one["id"].get<std::string>()] = one["str"].get<std::string>();
  const auto expect = [&](const char* id, const IRModule& module) {
    ASSERT_TRUE(texts.count(id));
    EXPECT_EQ(str(module), texts[id]) << id;
  };
  const DFPattern conv = called("nn.conv2d", {wildcard(), wildcard()});
  const PatternTable table = {
      {"cuda.conv2d_relu_with_bias", called("nn.relu", {called("nn.bias_add", {conv, wildcard()})}), {}},
      {"cuda.conv2d_relu_wo_bias", called("nn.relu", {conv}), {}}};
  register_target_rule("nn.dense", "cuda", [](const Expr&) { return true; });
  auto context = std::make_shared<PassContext>();
  context->instruments.push_back(std::make_shared<OriginVerifier>());
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);

  IRModule module = (*make_pass("InferType"))(workloads::find_workload("vgg-11")->make(), under);
  expect("seed/byoc/vgg11", module);
  module = (*merge_composite(table))(module, under);
  expect("seed/byoc/merge_composite", module);
  module = (*make_pass("AnnotateTarget", {{"targets", "cuda"}}))(module, under);
  expect("seed/byoc/annotate_target", module);
  module = (*make_pass("MergeCompilerRegions"))(module, under);
  expect("seed/byoc/merge_regions", module);
  module = (*make_pass("PartitionGraph"))(module, under);
  expect("seed/byoc/partition_graph", module);
  reset_target_rule("nn.dense", "cuda");
}

}  // namespace
}  // namespace baton
