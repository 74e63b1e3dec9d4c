"""Profiling of a VM's functions."""
import json

from . import vm
from .module import num_threads
from .profiling import Report, report_of


def enabled():
    """Whether measuring is possible: always."""
    return True


class VirtualMachineProfiler(vm.VirtualMachine):
    """A VirtualMachine that can measure."""

    def get_stat(self, sort_by_time=True):
        """The older name of str(profile())."""
        return self.profile().table(sort=sort_by_time)

    def profile(self, *args, func_name="main", collectors=None, **kwargs):
        """A runtime.profiling.Report of one call, after one to warm up, with every kernel timed."""
        if collectors:
            raise NotImplementedError("profile: Baton reads no hardware counters, collectors must be None")
        if args or kwargs:
            self.set_input(func_name, *args, **kwargs)
        module = self._run_of(func_name).module
        total_ns, node_ns = module.executor.profile()
        return report_of(json.loads(module.graph_json), total_ns, node_ns, num_threads(), "VM",
                         vm._kernel_name)  # pylint: disable=protected-access
