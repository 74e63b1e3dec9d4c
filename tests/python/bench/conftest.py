"""bench/ on the path, as its scripts have it."""
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parents[3] / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "peers"), str(BENCH / "compare")]
