"""What Xilinx' Vitis AI builds, in TVM. Baton has no such table: names can be imported, using them raises NotImplementedError."""
from ...._refused import fill

__getattr__ = fill(globals(), "TVM's patterns for Xilinx' Vitis AI are not known to Baton: give MergeComposite a pattern table of your own")
