"""Measuring on many machines: `baton measure --on ssh://... | dask://... | slurm` starts this package as a process of its own,
which needs neither Baton's compiled module nor the rest of the package. docs/design/0037-farm.md."""
