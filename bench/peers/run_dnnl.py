"""Baton with regions for oneDNN (partition_for_dnnl), numpy in and out, as a peer of `baton bench` (bursts.py)."""
import sys

import run_python


def partitioned(module, params):
    from baton.relay.op.contrib.dnnl import partition_for_dnnl

    return partition_for_dnnl(module, params)


if __name__ == "__main__":
    run_python.main(*sys.argv[1:], prepare=partitioned)
