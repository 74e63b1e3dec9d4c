import tvm
from tvm import relay
import tvm.relay.testing

def profile_graph(func):
    class OpProfiler(tvm.relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.ops = {}

        def visit_call(self, call):
            op = call.op
            if op not in self.ops:
                self.ops[op] = 0
            self.ops[op] += 1
            super().visit_call(call)

        def get_cuda_graph_num(self):
            cnt = 0
            for op in self.ops:
                if str(op).find("cuda") != -1:
                    cnt += 1
            return cnt

    profiler = OpProfiler()
    profiler.visit(func)
    print("Total number of operators: %d" % sum(profiler.ops.values()))
    print("Detail breakdown")
    for op, count in profiler.ops.items():
        print("\t%s: %d" % (op, count))
    print("cuda subgraph #: %d" % profiler.get_cuda_graph_num())

# Define the neural network
# Get the symbol definition and random weight of a network
mod, params = relay.testing.vgg.get_workload(batch_size=1, num_classes=1000,
    image_shape=(3, 224, 224), dtype='float32', num_layers=11
)
print(mod)
profile_graph(mod["main"])

# Operator-based annotation rules
@tvm.ir.register_op_attr("nn.dense", "target.cuda")
def dense(expr):
    return True

# Pattern-based annotation rules
def make_pattern(with_bias=True):
    from tvm.relay.dataflow_pattern import is_op, wildcard
    data = wildcard()
    weight = wildcard()
    bias = wildcard()
    conv = is_op("nn.conv2d")(data, weight)
    if with_bias:
        conv_out = is_op("nn.bias_add")(conv, bias)
    else:
        conv_out = conv
    return is_op("nn.relu")(conv_out)

conv2d_bias_relu_pat = ("cuda.conv2d_relu_with_bias", make_pattern(with_bias=True))
conv2d_relu_pat = ("cuda.conv2d_relu_wo_bias", make_pattern(with_bias=False))
patterns = [conv2d_bias_relu_pat, conv2d_relu_pat]

mod2 = relay.transform.MergeComposite(patterns)(mod)
print(mod2)
profile_graph(mod2["main"])

mod3 = relay.transform.AnnotateTarget("cuda")(mod2)
print(mod3)
profile_graph(mod3["main"])

mod4 = relay.transform.MergeCompilerRegions()(mod3)
print(mod4)

mod5 = relay.transform.PartitionGraph()(mod4)
print(mod5)

# Build the original Raly IR to generate LLVM code
with tvm.transform.PassContext(opt_level=3):
  lib = relay.build(mod, target="llvm", params=params)

#print(lib.get_lib().get_source()) # host code
#print(lib.get_lib().imported_modules[0].get_source()) # device code

print("Runtime module structure:")
print("\t %s" % str(lib.get_lib()))
for sub_mod in lib.get_lib().imported_modules:
  print("\t  |- %s" % str(sub_mod))

# Create the runtime module for the generated LLVM code
import tvm.contrib.graph_executor as runtime
run_mod = runtime.GraphModule(lib["default"](tvm.cpu(0)))

# Run the runtime module 10 times
import time
import numpy as np
times = []
for _ in range(10):
  start = time.time()
  run_mod.run()
  times.append(time.time() - start)
print("Median inference latency %.2f ms" % (1000 * np.median(times)))

# dispatch convolution operators to GPU
from tvm.relay.expr_functor import ExprMutator
class ScheduleDense(ExprMutator):
    def __init__(self, device):
        self.device = device
        super().__init__()

    def visit_call(self, expr):
        visit = super().visit_call(expr)
        if expr.op == tvm.relay.op.get("nn.conv2d"):
            return relay.annotation.on_device(visit, self.device)
        else:
            return visit
func = mod["main"]
sched = ScheduleDense("cuda")
func = sched.visit(func)
mod["main"] = func
print('Relay IR:\n', mod)

# Build the Raly IR to generate LLVM code and CUDA code
with tvm.transform.PassContext(opt_level=3):
  graph, lib, params = relay.build(mod, target={'cpu':'llvm','gpu':'cuda'}, params=params)

# Create the runtime module for the generated LLVM code and CUDA code
from tvm.contrib import graph_runtime
ctx = [tvm.cpu(0), tvm.cuda(0)]
run_mod = graph_runtime.create(graph, lib, ctx)

# Run inference 10 times
import time
import numpy as np
times = []
for _ in range(10):
  start = time.time()
  run_mod.run()
  times.append(time.time() - start)
print("Median inference latency %.2f ms" % (1000 * np.median(times)))
