// A dilated convolution as frameworks without one write it:
//   batch_to_space(conv2d(space_to_batch(x, block), w), block)  ->  conv2d(x, w, dilation=block)
// The blocks' paddings less the crops become the convolution's padding.
#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

std::vector<std::vector<int64_t>> pairs_attr(const CallNode& call, const char* name) {
  std::vector<std::vector<int64_t>> pairs;
  const AttrValue value = call.attrs()->get(name);
  if (const AttrList* list = value.as<AttrList>())
    for (const AttrValue& item : *list) pairs.push_back(ints_of(item));
  return pairs;
}

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  for (int64_t value : values)
    if (value != wanted) return false;
  return true;
}

class AtrousFlattener final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const CallNode* to_space = call_of(rebuilt, "nn.batch_to_space_nd");
    const CallNode* conv = to_space ? call_of(to_space->args()[0], op_names::kConv2D) : nullptr;
    const CallNode* to_batch = conv ? call_of(conv->args()[0], "nn.space_to_batch_nd") : nullptr;
    if (!to_batch || text_attr(*conv, "data_layout") != "NHWC") return rebuilt;
    const std::vector<int64_t> block = ints_attr(*to_batch, "block_shape");
    const auto paddings = pairs_attr(*to_batch, "paddings"), crops = pairs_attr(*to_space, "crops");
    if (block.size() != 2 || block != ints_attr(*to_space, "block_shape") || paddings.size() != 2 ||
        crops.size() != 2 || !all_are(ints_attr(*conv, "strides"), 1) ||
        !all_are(ints_attr(*conv, "padding"), 0) || !all_are(ints_attr(*conv, "dilation"), 1))
      return rebuilt;
    std::vector<int64_t> padding;
    for (int end : {0, 1})
      for (int axis : {0, 1}) padding.push_back(paddings[axis].at(end) - crops[axis].at(end));
    for (int64_t pad : padding)
      if (pad < 0) return rebuilt;
    const OriginScope scope(to_space->origins().merge(conv->origins()).merge(to_batch->origins()));
    return call_expr(conv->callee(), {to_batch->args()[0], conv->args()[1]},
                     with_fields(conv->attrs(), {{"padding", padding}, {"dilation", block}}));
  }
};

}  // namespace

Pass flatten_atrous_conv() {
  return function_pass({0, "FlattenAtrousConv", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(AtrousFlattener().run(function));
                       });
}

}  // namespace baton
