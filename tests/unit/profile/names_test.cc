// Operators that an importer gave names, and that have no lines: every output shows the name instead.
#include <sstream>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/ir/build.h"
#include "baton/profile/write/csv.h"
#include "baton/profile/write/model_explorer.h"
#include "baton/profile/write/operators_table.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/profile/write/tables.h"
#include "baton/profile/write/trace.h"
#include "baton/types/infer_type.h"

#include "profile/made_up.h"

namespace baton {
namespace {

using testing::HasSubstr;
using testing::Not;

Expr named(const Expr& call, const std::string& name) {
  return with_origins(call, OriginSet::of(Origin::create(as<CallNode>(call)->op()->name, {}, {}, name)));
}

/// As an importer makes it.
IRModule imported() {
  const Var x =
      make_var("x", tensor_type(std::vector<int64_t>{2, 3}, DType::float_(32)), NodeInfo(OriginSet::none()));
  const Expr product = named(call_op("multiply", {x, x}), "Mul_4");
  const Expr root = named(call_op("sqrt", {product}), "Sqrt_7");
  auto module = make_ref<IRModuleNode>();
  module->set("main", make_function({x}, root, {}, {}, NodeInfo(OriginSet::none())));
  return infer_types(module);
}

TEST(Names, OfAnImportedModelReachItsMap) {
  initialize();
  BuildOptions options;
  options.context = host_context();
  const BuildResult built = plan_build(imported(), options);
  const std::vector<OperatorRecord>& rows = built.origins->operators;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].line, 0u);
  EXPECT_EQ(rows[0].name, "Mul_4");
  EXPECT_EQ(rows[1].place(), "Sqrt_7");
  EXPECT_EQ(rows[1].label(), "Sqrt_7 sqrt");
  const Function main = built.source->find("main");
  EXPECT_EQ(place_of(*as<CallNode>(main->body())), "sqrt at Sqrt_7");
}

class Named : public testing::Test {
 protected:
  Named() {
    report_ = test::untitled();
    report_.source = report_.model;  // as of a model that is no text (report_head())
    for (OperatorRow& row : report_.operators) {
      row.line = row.column = 0;
      row.name = row.source = "Node_" + std::to_string(row.id);
    }
    add_titles(report_);
  }
  ProfileReport report_;
};

TEST_F(Named, TablesOfTheTerminalAndOfNotebooks) {
  std::ostringstream text;
  TableOptions options;
  options.width = 200;
  write_table(text, report_, options);
  write_operators(text, report_);
  for (const std::string& shown : {text.str(), html(report_)}) {
    EXPECT_THAT(shown, HasSubstr("Node_0"));
    EXPECT_THAT(shown, HasSubstr("Node_5"));
    EXPECT_THAT(shown, Not(HasSubstr("line 0")));
  }
  EXPECT_THAT(text.str(), Not(HasSubstr("lines are those of")));
}

TEST_F(Named, Files) {
  EXPECT_THAT(csv(parts_table(report_)), HasSubstr(",nn.conv2d,,,Node_0,nn.conv2d,conv,"));
  EXPECT_THAT(csv(operators_table(report_)), HasSubstr("Node_5"));
  EXPECT_THAT(trace_json(report_), HasSubstr("softmax Node_5"));
  EXPECT_THAT(explorer_graphs(report_), HasSubstr("Node_5"));
  EXPECT_EQ(to_json(report_).at("operators").at(5).at("source"), "Node_5");
}

}  // namespace
}  // namespace baton
