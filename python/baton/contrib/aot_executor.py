"""Runs what relay.build(executor=Executor("aot")) made."""
from ..runtime.executor import AotModule
