"""Modules of programs that are built in Python: reports say the time of each."""
import contextlib

from ._load import core


class module(contextlib.ContextDecorator):  # pylint: disable=invalid-name
    """Operators that are called inside belong to the module `name`, within the modules around it:

        with baton.module("encoder"):
            for i in range(12):
                with baton.module(f"layer{i}"):
                    x = layer(x)

    `baton.profile(...).table(by="module")` and `baton profile --by module` show a tree of them with their times. A decorator of
    functions, too. `name` may hold several names between slashes, "encoder/layer0". Of this thread only.

    Raises TypeError for a name that is not a str, ValueError for an empty one.
    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"module: a name is a str, not {type(name).__name__}")
        self._name = "/".join(part for part in name.split("/") if part)
        if not self._name:
            raise ValueError(f"module: a name, not {name!r}")
        self._outer = []

    def __enter__(self):
        self._outer.append(core.enter_module(self._name))
        return self

    def __exit__(self, *error):
        core.leave_module(self._outer.pop())
        return False
