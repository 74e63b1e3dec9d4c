"""How long does each operator of the program take? Fusion and layouts change the program; origins lead back.

    python -m baton.tvm examples/relay_profile.py [workload]
"""
import sys

import tvm
from tvm import relay

import baton

name = sys.argv[1] if len(sys.argv) > 1 else "resnet"
module, params = getattr(relay.testing, name).get_workload(batch_size=1)
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(module, target="llvm", params=params)
report = baton.profile(lib, repeat=10, seconds=0.5, inside_ms=20, name=name)

operators = {row["id"]: row for row in report.operators}
print("operator -> kernel -> time")
for kernel in report.kernels:
    if kernel["origins"]:
        print(f"{kernel['median_us']:10.1f} us  {kernel['name']}")
    else:
        print(f"{kernel['median_us']:10.1f} us  {kernel['name']}  ({kernel['reason']})")
    for part in kernel["inside"]:
        ops = ", ".join(operators[each]["op"] for each in part["ids"]) or "load, store, loop"
        print(f"{part['us']:18.1f} us  {ops}" + (" (below what can be measured)" if part["below_noise"] else ""))

print("operator, as the program has it")
times = {}
for row in report.operators:
    if row["inside_us"] is not None:
        times.setdefault(row["op"], []).append(row["inside_us"])
for op, each in sorted(times.items(), key=lambda item: -sum(item[1])):
    print(f"{sum(each):10.1f} us in {len(each):3} x {op}")

folded = sum(not row["nodes"] and bool(row["folded_into"]) for row in report.operators)
retired = sum(row["retired"] is not None for row in report.operators)
print(f"without time of their own: {folded} folded at compile time, {retired} retired")
accounted = all(row["nodes"] or row["folded_into"] or row["retired"] for row in report.operators)
print("every operator accounted for:", accounted)
print(f"kernels sum to {report.sum_us:.0f} us of {report.end_to_end_us:.0f} us end to end")
