"""What other compilers build: their pattern tables."""
from ...._load import not_provided

from .register import get_pattern_table, register_pattern_table


def __getattr__(name):
    not_provided(__name__, name)
