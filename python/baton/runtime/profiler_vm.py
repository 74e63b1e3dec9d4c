"""Profiling of a VM's functions."""
import warnings

from . import vm
from .module import num_threads
from .profiling import Report  # noqa: F401 -- a name of this module in TVM


def enabled():
    """Whether measuring is possible: always."""
    return True


class VirtualMachineProfiler(vm.VirtualMachine):
    """A VirtualMachine that can measure."""

    def get_stat(self, sort_by_time=True):
        """The older name of str(profile())."""
        warnings.warn("get_stat has been removed, use profile instead", stacklevel=2)
        return self.profile().table(sort=sort_by_time)

    def profile(self, *args, func_name="main", collectors=None, **kwargs):
        """A runtime.profiling.Report of one call, after three to warm up.

        A row for the calls of each kernel and operator on the same shapes. `VM::AllocTensor`: extents and memory of the
        straight-line pieces between control flow; `VM::UnknownOp`: everything else, which is control. The rows add up to the total.
        """
        if collectors:
            raise NotImplementedError("profile: Baton reads no hardware counters, collectors must be None")
        run = self._run_of(func_name)
        if args or kwargs:
            run.set_all(args, kwargs)
        return run.profile(num_threads())
