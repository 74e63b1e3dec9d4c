"""Descriptions of memory that a build may be told to use. relay.build refuses them: kernels use the host's memory."""

from .._wanted import listed, mapped, wanted


class PoolInfoProperties:
    """Facts of a pool of memory; -1 or 0 for what is not known."""

    def __init__(self, size_hint_bytes=-1, clock_frequency_hz=-1, read_bandwidth_bytes_per_cycle=-1,
                 write_bandwidth_bytes_per_cycle=-1, read_latency_cycles=0, write_latency_cycles=0, target_burst_bytes=None):
        self.size_hint_bytes, self.clock_frequency_hz = size_hint_bytes, clock_frequency_hz
        self.read_bandwidth_bytes_per_cycle = read_bandwidth_bytes_per_cycle
        self.write_bandwidth_bytes_per_cycle = write_bandwidth_bytes_per_cycle
        self.read_latency_cycles, self.write_latency_cycles = read_latency_cycles, write_latency_cycles
        self.target_burst_bytes = dict(mapped("target_burst_bytes", target_burst_bytes or {}))


class PoolInfo:
    """A pool of memory: its name, the targets that reach it, its properties."""

    def __init__(self, pool_name, targets, pool_info_properties=None):
        self.pool_name, self.targets = wanted("pool_name", pool_name, str, "a str"), listed("targets", targets)
        wanted("pool_info_properties", pool_info_properties, (PoolInfoProperties, type(None)), "a PoolInfoProperties")
        for name, value in vars(pool_info_properties or PoolInfoProperties()).items():
            setattr(self, name, value)


class WorkspacePoolInfo(PoolInfo):
    """A pool for kernel outputs."""


class ConstantInfo:
    """A constant in a pool."""

    def __init__(self, name_hint, byte_offset, data):
        self.name_hint, self.byte_offset, self.data = name_hint, byte_offset, data


class ConstantPoolInfo(PoolInfo):
    """A pool for constants."""

    def __init__(self, pool_name, targets, constant_info_arr=None, pool_info_properties=None):
        super().__init__(pool_name, targets, pool_info_properties)
        self.constant_info_arr = listed("constant_info_arr", constant_info_arr or [])


class AllocatedPoolInfo:
    """A pool with a number of allocated bytes."""

    def __init__(self, pool_info, allocated_size, pool_var_idx=0):
        self.pool_info, self.allocated_size, self.pool_var_idx = pool_info, allocated_size, pool_var_idx


class WorkspaceMemoryPools:
    """Pools for kernel outputs."""

    def __init__(self, pools):
        self.pools = listed("pools", pools)


class ConstantMemoryPools(WorkspaceMemoryPools):
    """Pools for constants."""
