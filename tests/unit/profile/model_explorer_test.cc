#include "baton/profile/write/model_explorer.h"

#include <set>

#include <gmock/gmock.h>

#include "baton/support/error.h"
#include "baton/support/json.h"

#include "profile/made_up.h"

namespace baton {
namespace {

using testing::HasSubstr;

std::map<std::string, std::set<std::string>> ids_of(const Json& collection) {
  std::map<std::string, std::set<std::string>> ids;
  for (const Json& graph : collection.at("graphs"))
    for (const Json& node : graph.at("nodes"))
      EXPECT_TRUE(ids[graph.at("id").get<std::string>()].insert(node.at("id").get<std::string>()).second)
          << node;
  return ids;
}

TEST(ModelExplorer, GraphsAreWhole) {
  const Json collection = Json::parse(explorer_graphs(test::made_up()));
  EXPECT_EQ(collection.at("label"), "net");
  const auto ids = ids_of(collection);
  EXPECT_EQ(ids.at("operators").size(), 8u);
  EXPECT_EQ(ids.at("kernels").size(), 4u);
  for (const Json& graph : collection["graphs"])
    for (const Json& node : graph["nodes"]) {
      EXPECT_TRUE(node.at("label").is_string() && node.at("namespace").is_string());
      for (const Json& edge : node.at("incomingEdges"))
        EXPECT_TRUE(ids.at(graph["id"].get<std::string>()).count(edge.at("sourceNodeId").get<std::string>()))
            << node;
      for (const Json& attr : node.at("attrs"))
        EXPECT_TRUE(attr.at("key").is_string() && attr.at("value").is_string()) << node;
    }
  const Json& operators = collection["graphs"][0]["nodes"];
  EXPECT_EQ(operators[0]["namespace"], "conv2d + bias_add + relu, line 3 (node 2)");
  EXPECT_EQ(operators[3]["namespace"], "retired");
  EXPECT_EQ(operators[4]["namespace"], "folded at compile time");
  EXPECT_EQ(operators[5]["incomingEdges"][1]["sourceNodeId"], "op4");
  EXPECT_EQ(operators[5]["incomingEdges"][1]["targetNodeInputId"], "1");
  EXPECT_THAT(operators[0]["attrs"].dump(), HasSubstr("[2,2]"));
}

TEST(ModelExplorer, DataIsKeyedByNodesOfTheGraphs) {
  const ProfileReport report = test::made_up();
  const auto ids = ids_of(Json::parse(explorer_graphs(report)));
  for (const std::string& quantity : explorer_quantities()) {
    const Json data = Json::parse(explorer_data(report, quantity));
    for (const auto& [graph, each] : data.items()) {
      EXPECT_EQ(each.at("name"), quantity);
      EXPECT_FALSE(each.at("results").empty()) << quantity << " of " << graph;
      for (const auto& [id, result] : each.at("results").items()) {
        EXPECT_TRUE(ids.at(graph).count(id)) << id;
        EXPECT_TRUE(result.at("value").is_number());
      }
      EXPECT_EQ(each.at("gradient")[0].at("stop"), 0);
      EXPECT_EQ(each.at("gradient").back().at("stop"), 1);
    }
  }
  const Json fused = Json::parse(explorer_data(report, "fused_us")),
             inside = Json::parse(explorer_data(report, "inside_us")),
             unfused = Json::parse(explorer_data(report, "unfused_us"));
  EXPECT_EQ(fused["kernels"]["results"]["kernel7"]["value"], 30);
  EXPECT_NEAR(fused["operators"]["results"]["op1"]["value"].get<double>(), 0.5 / 1.1, 1e-12);
  EXPECT_FALSE(fused["operators"]["results"].contains("op4"));
  EXPECT_EQ(inside["operators"]["results"]["op0"]["value"], 8);
  EXPECT_EQ(inside["kernels"]["results"]["kernel2"]["value"], 8.5);
  EXPECT_EQ(unfused["kernels"]["results"]["kernel2"]["value"], 9);
  EXPECT_THROW(explorer_data(report, "fused"), Error);
}

TEST(ModelExplorer, WithoutOriginsThereAreTheKernels) {
  ProfileReport report = test::made_up();
  report.operators.clear();
  for (KernelRow& kernel : report.kernels) kernel.origins = kernel.made_for = {}, kernel.inside.clear();
  const Json collection = Json::parse(explorer_graphs(report));
  ASSERT_EQ(collection["graphs"].size(), 1u);
  EXPECT_EQ(collection["graphs"][0]["id"], "kernels");
}

}  // namespace
}  // namespace baton
