"""Memory that a program for a small device may use. Baton plans memory itself: these describe pools, build() refuses them."""
from .._ffi_names import Object


class PoolInfo(Object):
    """Base of pools."""


class PoolInfoProperties(Object):
    """Size in bytes and speed of a pool; -1: not known."""

    def __init__(self, size_hint_bytes=-1, clock_frequency_hz=-1, read_bandwidth_bytes_per_cycle=-1,
                 write_bandwidth_bytes_per_cycle=-1, read_latency_cycles=0, write_latency_cycles=0, target_burst_bytes=None):
        self.size_hint_bytes, self.clock_frequency_hz = size_hint_bytes, clock_frequency_hz
        self.read_bandwidth_bytes_per_cycle = read_bandwidth_bytes_per_cycle
        self.write_bandwidth_bytes_per_cycle = write_bandwidth_bytes_per_cycle
        self.read_latency_cycles, self.write_latency_cycles = read_latency_cycles, write_latency_cycles
        self.target_burst_bytes = dict(target_burst_bytes or {})


class WorkspacePoolInfo(PoolInfo):
    """Memory for intermediate values, for the kernels of `targets`."""

    def __init__(self, pool_name, targets, pool_info_properties=None):
        self.pool_name, self.targets = pool_name, list(targets)
        self.pool_info_properties = pool_info_properties or PoolInfoProperties()


class ConstantPoolInfo(PoolInfo):
    """Memory for constants, for the kernels of `targets`."""

    def __init__(self, pool_name, targets, constant_info_arr=None, pool_info_properties=None):
        self.pool_name, self.targets, self.constant_info_array = pool_name, list(targets), list(constant_info_arr or [])
        self.pool_info_properties = pool_info_properties or PoolInfoProperties()


class WorkspaceMemoryPools(Object):
    """The WorkspacePoolInfos of a build; build(workspace_memory_pools=) raises NotImplementedError."""

    def __init__(self, pools):
        self.pools = list(pools)


class ConstantMemoryPools(Object):
    """The ConstantPoolInfos of a build; build(constant_memory_pools=) raises NotImplementedError."""

    def __init__(self, pools):
        self.pools = list(pools)
