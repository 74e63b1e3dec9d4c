"""Functions that are verbs of the command line, too: both read one table of options (docs/design/0043-options.md)."""
import functools
import inspect


def takes(table):
    """Completes a function with the parameter `options`, a dict: the signature and the docstring of what it returns have the options
    of the table as keyword arguments, with their defaults, but for those that are parameters of the function itself."""

    def complete(function):
        own = [each for each in inspect.signature(function).parameters.values() if each.name != "options"]
        names = {each.name for each in own}
        added = [row for row in table if row[0] not in names]

        @functools.wraps(function)
        def call(*args, **kwargs):
            given = {name: kwargs.pop(name) for name in list(kwargs) if name not in names}
            return function(*args, options=given, **kwargs)

        keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default, _ in added]
        call.__signature__ = inspect.Signature(own + keywords)
        before, returns, after = (function.__doc__ or "").partition("\n\n    Returns ")
        call.__doc__ = before + "".join(f"\n    {name} : {doc}" for name, _, doc in added) + returns + after
        return call

    return complete
