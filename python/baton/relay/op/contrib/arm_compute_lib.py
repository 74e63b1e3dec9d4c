"""What ARM's Compute Library builds, in TVM. Baton has no such table: names can be imported, using them raises NotImplementedError."""
from ...._refused import fill

__getattr__ = fill(globals(), "TVM's patterns for ARM's Compute Library are not known to Baton: give MergeComposite a pattern table of your own")
