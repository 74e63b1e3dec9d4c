"""Asking programs."""
from .._load import core, not_provided

post_order_visit = core.post_order_visit
free_vars = core.free_vars
all_vars = core.all_vars


def bound_vars(expr):
    """Variables bound inside `expr`, in post-order."""
    free = set(free_vars(expr))
    return [each for each in all_vars(expr) if each not in free]


def __getattr__(name):
    not_provided(__name__, name)
