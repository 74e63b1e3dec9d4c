"""A model's profile as files for other programs, its slowest operators, and what fusion does for each of them.

    python -m baton.tvm examples/profile_outputs.py [workload] [folder]
"""
import os
import sys
import tempfile

import tvm
from tvm import relay

import baton

name = sys.argv[1] if len(sys.argv) > 1 else "resnet"
folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="baton_profile_")
module, params = getattr(relay.testing, name).get_workload(batch_size=1)


def profile(level):
    with tvm.transform.PassContext(opt_level=level):
        lib = relay.build(module, target="llvm", params=params)
    return baton.profile(lib, repeat=10, seconds=0.5, inside_ms=20, name=name)


report = profile(3)
# Saved as .json a profile can be read again (baton.ProfileReport.load), shown, converted and compared.
for ending in ("json", "csv", "html", "trace.json", "explorer.json"):
    for path in report.save(os.path.join(folder, f"{name}.{ending}")):
        print(f"wrote {path}")

print("slowest operators")
operators = [row for row in report.rows("operators") if row["us"] is not None]
for row in sorted(operators, key=lambda row: -row["us"])[:5]:
    print(f"{row['us']:10.1f} us  {row['op']} {row['type']}  ({row['us_by']} of its kernel)")

print("what optimisation does, operator by operator")
difference = baton.diff(profile(0), report, "opt level 0", "opt level 3")
for group in sorted(difference.groups, key=lambda group: group["us"]["delta"])[:5]:
    us = group["us"]
    ops = ", ".join(difference.operators[each]["op"] for each in group["operators"])
    known = "" if us["differs"] else "  (within noise)"
    print(f"{us['a']:10.1f} -> {us['b']:.1f} us in {len(group['a'])} -> {len(group['b'])} kernels: {ops}{known}")

print(f"kernels sum to {report.sum_us:.0f} us of {report.end_to_end_us:.0f} us end to end")
