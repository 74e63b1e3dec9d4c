// A concatenation of more tensors than a kernel of the target may take becomes one of concatenations:
//   concatenate((a, b, c, d))  ->  concatenate((stop_fusion(concatenate((a, b))),
//                                               stop_fusion(concatenate((c, d)))))
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class ArgSplitter final : public Rewriter {
 public:
  explicit ArgSplitter(size_t limit) : limit_(limit) {}

 private:
  bool enter(const Expr&) override { return true; }  // into kernels too
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const CallNode* join = call_of(rebuilt, "concatenate");
    const auto* tuple = join ? as<TupleNode>(join->args()[0]) : nullptr;
    if (!tuple || tuple->fields().size() <= limit_) return rebuilt;
    const size_t count = tuple->fields().size(), parts = (count + limit_ - 1) / limit_;
    std::vector<Expr> joined;
    for (size_t part = 0; part < parts; ++part) {
      const auto first = tuple->fields().begin() + static_cast<ptrdiff_t>(part * limit_);
      const auto last =
          tuple->fields().begin() + static_cast<ptrdiff_t>(std::min(count, (part + 1) * limit_));
      const Expr piece =
          call_expr(join->callee(), {make_tuple({first, last}, tuple->with_type({}))}, join->attrs());
      joined.push_back(call_op("annotation.stop_fusion", {piece}));
    }
    return call_expr(join->callee(), {make_tuple(std::move(joined), tuple->with_type({}))}, join->attrs());
  }

  size_t limit_;
};

}  // namespace

Pass split_args(const PassArgs& args) {
  PassArgReader reader("SplitArgs", args);
  const int64_t limit = reader.integer("max_function_args", -1, -1);
  reader.finish();
  return function_pass({1, "SplitArgs", {"InferType"}}, [limit](const Function& function, const IRModule&,
                                                                const PassContext&) {
    const int64_t inputs = limit - 1;  // the result is an argument of the kernel too
    return inputs < 1 ? function
                      : as_ref<FunctionNode>(ArgSplitter(static_cast<size_t>(inputs)).run(function));
  });
}

}  // namespace baton
