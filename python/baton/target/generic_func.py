"""Functions specialised per target."""
from .._load import core
from .._wanted import listed, wrong

_functions = {}


class GenericFunc:
    """A function with one body per target: a call runs that of the current target, or the default."""

    def __init__(self, name=None):
        self.name, self._default, self._by_key = name, None, {}

    def set_default(self, func, allow_override=False):
        """Sets the default body, for targets without their own."""
        if self._default is not None and not allow_override:
            raise core.TVMError(f"{self.name}: there is a default already; say allow_override=True to replace it")
        self._default = func

    def register(self, func, key_list, allow_override=False):
        """Registers the body for targets with one of these keys ("cpu", "cuda", ..)."""
        for key in listed("key_list", key_list):
            if key in self._by_key and not allow_override:
                raise core.TVMError(f"{self.name}: {key} is registered already; say allow_override=True to replace it")
            self._by_key[key] = func

    def __call__(self, *args, **kwargs):
        from . import Target

        current = Target.current()
        keys = [*current.keys, current.kind.name] if current is not None else []
        for key in keys:
            if key in self._by_key:
                return self._by_key[key](*args, **kwargs)
        if self._default is None:
            raise core.TVMError(f"{self.name}: there is no function for target {current}, and no default")
        return self._default(*args, **kwargs)

    def get_packed_func(self):
        """The function that the current target takes."""
        return self.__call__


def get_native_generic_func(name):
    """The GenericFunc of that name; made when there is none."""
    return _functions.setdefault(name, GenericFunc(name))


def override_native_generic_func(func_name):
    """Decorator: a GenericFunc whose default is the function; `.register(keys)` on it is a decorator for targets."""
    function = get_native_generic_func(func_name)

    def decorate(default):
        if not callable(default):
            raise wrong("what is decorated", "a function", default)
        function.set_default(default, allow_override=True)
        return _dispatching(default, lambda func, keys, override: function.register(func, keys, override), function)

    return decorate


def generic_func(fdefault):
    """Makes a function target-specific; `.register(keys)` on it is a decorator for targets."""
    if not callable(fdefault):
        raise wrong("fdefault", "a function", fdefault)
    function = GenericFunc(getattr(fdefault, "__name__", type(fdefault).__name__))
    function.set_default(fdefault)
    return _dispatching(fdefault, lambda func, keys, override: function.register(func, keys, override), function)


def _dispatching(default, add, function):
    import functools

    @functools.wraps(default)
    def dispatch(*args, **kwargs):
        return function(*args, **kwargs)

    def register(key, func=None, override=True):
        keys = [key] if isinstance(key, str) else list(key)

        def take(given):
            add(given, keys, override)
            return given

        return take if func is None else take(func)

    dispatch.fdefault, dispatch.register, dispatch.generic_func_node = default, register, function
    dispatch.get_packed_func = function.get_packed_func
    return dispatch
