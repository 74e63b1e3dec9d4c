"""Baton with regions for oneDNN (partition_for_dnnl), numpy in and out, as a peer of `baton bench` (bursts.py).

With BATON_BENCH_IN_PLACE in the environment bursts leave inputs and outputs where they are, as oneDNN called by hand does.
"""
import os
import sys

import run_python


def partitioned(module, params):
    from baton.relay.op.contrib.dnnl import partition_for_dnnl

    return partition_for_dnnl(module, params)


if __name__ == "__main__":
    run_python.main(*sys.argv[1:], prepare=partitioned, in_place="BATON_BENCH_IN_PLACE" in os.environ)
