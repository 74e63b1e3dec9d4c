"""OpenVINO in the precision that it chooses itself, as a peer of `baton bench` (bursts.py)."""
import sys

import run_openvino

if __name__ == "__main__":
    run_openvino.main(*sys.argv[1:], force_f32=False)
