"""The VM's names under relay."""
from .backend.vm import VMCompiler, VMExecutor, compile  # noqa: A004
