"""Building TE and TIR, which Baton does not have: relay.build compiles Relay."""


def build(inputs, args=None, target=None, target_host=None, runtime=None, name="main", binds=None):
    """Raises NotImplementedError: there are no schedules or PrimFuncs in Baton."""
    raise NotImplementedError("tvm.build compiles TE and TIR, which Baton does not have; relay.build compiles Relay")


def lower(inp, args=None, name="main", binds=None, simple_mode=False):
    """Raises NotImplementedError: there are no schedules or PrimFuncs in Baton."""
    raise NotImplementedError("tvm.lower takes TE and TIR, which Baton does not have; relay.build compiles Relay")
