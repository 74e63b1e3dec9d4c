"""Runs what relay.build(executor=Executor("aot")) made."""
from ..contrib.graph_executor import GraphModule


class AotModule(GraphModule):
    """A model and its inputs and outputs. `module`: what `lib["default"](device)` returned."""
