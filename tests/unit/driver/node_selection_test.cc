#include "baton/driver/cut/node_selection.h"

#include <gmock/gmock.h>

#include "baton/driver/plan/graph_json.h"

#include "driver/cut_programs.h"

namespace baton {
namespace {

using namespace cut_programs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kChain = R"(
def @main(%x: Tensor[(1, 4, 8, 8), float32], %y: Tensor[(1, 4, 8, 8), float32]) {
  %0 = nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %1 = split(%0, indices_or_sections=2, axis=1);
  %2 = nn.max_pool2d(%1.0, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %3 = nn.softmax(%1.1);
  (%2, %3, %y)
}
)";

TEST(NodeSelection, IdsNamesRangesAndTensors) {
  const auto program = program_of(kChain);
  const GraphPlan& plan = *program->plan().plan;
  ASSERT_EQ(plan.nodes.size(), 6u) << graph_json(
      *plan.graph);  // x, y, pool, split, pool, softmax: split has the tensors 3 and 4
  EXPECT_THAT(select_nodes(plan, "2"), ElementsAre(2));
  EXPECT_THAT(select_nodes(plan, " 4 , 2:3,3 "), ElementsAre(2, 3, 4));
  EXPECT_THAT(select_nodes(plan, "fused_split"), ElementsAre(3));
  EXPECT_THAT(select_nodes(plan, "tvmgen_default_fused_split:5"), ElementsAre(3, 4, 5));
  EXPECT_THAT(select_nodes(plan, "entry:4"), ElementsAre(3));
  EXPECT_THAT(select_nodes(plan, "entry:5"), ElementsAre(4));
  EXPECT_THAT(select_nodes(plan, "entry:3:5"), ElementsAre(3, 4));
  EXPECT_THAT(select_nodes(plan, "x"), ElementsAre(0));
  EXPECT_THAT(select_kernel(plan, "fused_nn_softmax"), ElementsAre(5));
}

TEST(NodeSelection, Mistakes) {
  const auto program = program_of(kChain);
  const GraphPlan& plan = *program->plan().plan;
  const auto nodes = [&](const std::string& text) { return message_of([&] { select_nodes(plan, text); }); };
  EXPECT_EQ(nodes("6"), "there is no node 6: the graph has 6 nodes, 0 to 5");
  EXPECT_EQ(nodes("99999999999999999999"),
            "there is no node 99999999999999999999: the graph has 6 nodes, 0 to 5");
  EXPECT_EQ(nodes("entry:7"), "there is no entry:7: node_row_ptr counts 7 tensors, 0 to 6");
  EXPECT_EQ(nodes("entry:fused_split"),
            "there is no entry:fused_split: node_row_ptr counts 7 tensors, 0 to 6");
  EXPECT_EQ(nodes("4:2"), "the range `4:2` runs backwards: node 4 comes behind node 2");
  EXPECT_EQ(nodes("4:"), "the range `4:` has an open end: both ends belong to a range, as in 5:9");
  EXPECT_EQ(nodes("1,,2"), "--nodes \"1,,2\" has an empty item");
  EXPECT_EQ(nodes(" "), "--nodes names nothing");
  EXPECT_EQ(nodes("fused_splat"),
            "there is no node `fused_splat`; did you mean `fused_split`?\n  nodes are named in graph.json "
            "and by `baton profile`, counted from 0");
  EXPECT_THAT(message_of([&] { select_kernel(plan, "fused_nn_softmx"); }),
              HasSubstr("there is no kernel `fused_nn_softmx`; did you mean `fused_nn_softmax`?"));
  EXPECT_THAT(message_of([&] { select_operators(program->graph().module()->origins(), "%9"); }),
              HasSubstr("there is no operator `%9`"));
  EXPECT_EQ(message_of([&] { select_operators(program->graph().module()->origins(), "id:4"); }),
            "there is no operator id:4: the program has 4 operators, 0 to 3");
  EXPECT_THAT(message_of([&] { program->choose({"a", "1", ""}); }),
              HasSubstr("what is to be cut? Give one of"));
  EXPECT_THAT(message_of([&] { program->choose({}); }), HasSubstr("what is to be cut? Give one of"));
}

TEST(NodeSelection, InputsComputeNothing) {
  const auto program = program_of(kChain);
  EXPECT_EQ(message_of([&] { by_nodes(*program, "0:1"); }),
            "nodes 0:1 are inputs and constants only (x, y)\n  the nearest that compute: node 2 "
            "`fused_nn_max_pool2d`");
}

TEST(NodeSelection, WhatTheCompilerAddedHasNoOperators) {
  const auto program = program_of(kChain);
  GraphPlan plan = *program->plan().plan;
  plan.nodes[3].origins = OriginSet::made_for(plan.nodes[2].origins, "nn.max_pool2d computes in NCHW16c");
  EXPECT_EQ(message_of([&] { operators_of_nodes({&plan, nullptr}, {3}); }),
            "node `tvmgen_default_fused_split` computes no operator of the program: the compiler added it "
            "for %0 nn.max_pool2d (nn.max_pool2d computes in "
            "NCHW16c)\n  choose what it was added for");
  // Among others it is no mistake.
  EXPECT_EQ(operators_of_nodes({&plan, nullptr}, {2, 3}).size(), 1u);
}

}  // namespace
}  // namespace baton
