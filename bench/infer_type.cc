// InferType runs after nearly every pass: what is new must cost little, what is typed nothing. The bar: 1 M
// nodes/s.
#include "baton/types/infer_type.h"

#include <benchmark/benchmark.h>

#include "baton/ir/op.h"
#include "baton/ops/register.h"

namespace {

using namespace baton;

IRModule chain(int64_t length) {
  register_all_ops();
  const Var x = var("x", tensor_type(std::vector<int64_t>{1, 64, 56, 56}, DType::float_(32)));
  const Var y = var("y", tensor_type(std::vector<int64_t>{64, 1, 1}, DType::float_(32)));
  Expr at = x;
  for (int64_t i = 0; i < length; ++i) at = i % 2 ? call("nn.relu", {at}) : call("add", {at, y});
  return module_from_expr(Expr(function({x, y}, at)));
}

void BM_InferType(benchmark::State& state) {
  const IRModule untyped = chain(state.range(0));
  const Function main = untyped->find("main");
  for (auto _ : state) {
    benchmark::DoNotOptimize(infer_types(untyped));
    state.PauseTiming();
    untyped->replace("main", main);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_InferType)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

void BM_InferTypeTyped(benchmark::State& state) {
  const IRModule typed = infer_types(chain(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(infer_types(typed));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_InferTypeTyped)->Arg(100000);

}  // namespace
