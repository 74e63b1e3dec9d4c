#include "demo_compiler.h"

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"

namespace baton::golden {

void register_demo_compiler() {
  for (const char* op : {"nn.conv2d", "nn.relu", "add", "nn.dense"})
    register_target_rule(op, "demo", [](const Expr&) { return true; });
  for (const char* op : {"exp", "nn.relu"})
    register_target_rule(op, "other", [](const Expr&) { return true; });
  const auto two = [](const char* op) { return is_op(op)->call({wildcard(), wildcard()}); };
  const DFPattern conv = two("nn.conv2d")->optional([](const DFPattern& data) {
    return is_op("nn.bias_add")->call({data, wildcard()});
  });
  register_pattern_table("demo", {{"demo.conv2d_bias_relu", is_op("nn.relu")->call({conv}), {}},
                                  {"demo.dense", two("nn.dense"), {}}});
}

}  // namespace baton::golden
