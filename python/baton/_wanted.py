"""Argument checks in Python: errors name the argument and the type found."""


def wrong(name, expected, value):
    """The TypeError for an argument: "`name` is `expected`, not list"."""
    return TypeError(f"{name} is {expected}, not {type(value).__name__}")


def wanted(name, value, kind, expected):
    """`value` itself when it is of that class (or one of several); otherwise TypeError."""
    if not isinstance(value, kind):
        raise wrong(name, expected, value)
    return value


def listed(name, value, expected="a list"):
    """The elements of the iterable `value` as a list. TypeError for a str and for objects that are not iterable."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise wrong(name, expected, value)
    return list(value)


def mapped(name, value, expected="a dict"):
    """The pairs of a dict, or of any object with items(); TypeError for other objects, and for a class."""
    items = getattr(value, "items", None)
    if not callable(items) or isinstance(value, type):
        raise wrong(name, expected, value)
    return items()
