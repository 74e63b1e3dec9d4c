"""Executors."""
from . import graph_executor
