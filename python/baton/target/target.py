"""TVM's module of Target and of what makes targets."""
from . import Target, TargetKind
from .factories import (arm_cpu, bifrost, create, cuda, hexagon, intel_graphics, list_tags, mali, rasp, riscv_cpu, rocm, stm32,
                        vta)

__all__ = ["Target", "TargetKind", "arm_cpu", "bifrost", "create", "cuda", "hexagon", "intel_graphics", "list_tags", "mali", "rasp",
           "riscv_cpu", "rocm", "stm32", "vta"]
