// Where every operator of three networks ends up, as text that a reviewer reads: one line per kernel, then
// what was folded or retired. BATON_UPDATE_TABLES=1 rewrites the files; the difference is the review.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/pipeline.h"
#include "baton/pass/origin_verifier.h"
#include "baton/support/json.h"

#include "test_paths.h"

namespace baton {
namespace {

std::string operator_text(const Origin& origin) {
  return origin.op() + "@" + std::to_string(origin.span().line);
}

std::string list_text(std::span<const Origin* const> origins) {
  std::string text;
  for (const Origin* origin : origins) text += " " + operator_text(*origin);
  return text;
}

std::string table_of(const char* model_name, int opt_level) {
  initialize();
  const LoadedModel model = load_model(model_name);
  const auto context = std::make_shared<PassContext>();
  context->opt_level = opt_level;
  context->instruments = {std::make_shared<OriginVerifier>()};
  context->evaluator = make_evaluator();
  BuildContext under;
  under.passes = context;
  const InstrumentScope scope(context);
  DeviceSheet sheet;  // one for all machines that run this test: layouts and algorithms depend on it
  sheet.float_lanes = 16;
  sheet.vector_registers = 32;
  under.sheets = {sheet};
  const IRModule optimized = optimize(bind_params(model.module, load_params(model, "")), under);
  const GraphPlan plan = make_plan(optimized);

  std::ostringstream table;
  table << "# " << model_name << " at opt level " << opt_level << ": node, kernel: operators@line\n";
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlannedNode& node = plan.nodes[i];
    if (!node.function) continue;
    table << i << " " << plan.name_of(i) << ":" << list_text(node.origins.origins());
    if (!node.origins.causes().empty()) table << " made for" << list_text(node.origins.causes());
    table << "\n";
  }
  table << "# folded into constants that these nodes read, or retired\n";
  for (const OperatorRecord& row : origin_report(optimized->origins(), plan, {}, FusionLog()).operators) {
    const std::string name = row.op + "@" + std::to_string(row.line);
    if (!row.folded_into.empty()) table << name << ": " << Json(row.folded_into).dump() << "\n";
    if (!row.retired_by.empty())
      table << name << ": retired by " << row.retired_by << ": " << row.retired_why << "\n";
    EXPECT_TRUE(!row.nodes.empty() || !row.folded_into.empty() || !row.retired_by.empty())
        << name << " is lost";
  }
  return table.str();
}

class OriginTables : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(OriginTables, AreThoseThatWereReviewed) {
  const auto [model, opt_level] = GetParam();
  const std::string path = std::string(source_dir()) + "/tests/unit/driver/origin_tables/" + model + ".O" +
                           std::to_string(opt_level) + ".txt";
  const std::string table = table_of(model, opt_level);
  if (std::getenv("BATON_UPDATE_TABLES")) std::ofstream(path) << table;
  std::ifstream file(path);
  EXPECT_EQ(table, std::string(std::istreambuf_iterator<char>(file), {})) << "see " << path;
}

INSTANTIATE_TEST_SUITE_P(Networks, OriginTables,
                         testing::Values(std::pair{"resnet-18", 0}, std::pair{"resnet-18", 3},
                                         std::pair{"vgg-11", 0}, std::pair{"vgg-11", 3},
                                         std::pair{"mobilenet", 0}, std::pair{"mobilenet", 3}));

}  // namespace
}  // namespace baton
