"""Fixtures and marks of tests: parameters, targets, cached values. pytest is imported when one is used."""
import functools
import inspect

from .utils import device_enabled, enabled_targets


def _targets(given):
    if not given:
        return [each for each, _ in enabled_targets()]
    return [str(each) for each in given]


def target_cases(targets, names=("target",)):
    """Parameters of pytest for `names`, "target" or "target" and "dev"; those that cannot be built for are skipped."""
    import pytest

    from .. import device

    cases = []
    for target in targets:
        values = {"target": target, "dev": device(target.split()[0]) if device_enabled(target) else None}
        marks = () if device_enabled(target) else pytest.mark.skip(reason=f"target {target} cannot be built for")
        cases.append(pytest.param(*(values[each] for each in names), id=target, marks=marks))
    return cases


def parametrize_targets(*args):
    """Decorator: runs a test for each of these targets, or for all enabled ones. Those that cannot be built for are skipped.

    Of a class, all its tests that take `target`; of a test that takes it by one of its fixtures, with the plug-in only.
    """
    import pytest

    if len(args) == 1 and callable(args[0]):
        return parametrize_targets()(args[0])

    def decorate(function):
        parameters_of = {} if inspect.isclass(function) else inspect.signature(function).parameters
        names = [each for each in ("target", "dev") if each in parameters_of]
        if "target" not in names:
            return pytest.mark.baton_targets(*_targets(args))(function)
        return pytest.mark.parametrize(",".join(names), target_cases(_targets(args), names))(function)

    return decorate


def _for_targets(targets, act):
    import pytest

    def decorate(function):
        if inspect.isclass(function):
            for name, each in list(vars(function).items()):
                if name.startswith("test") and inspect.isfunction(each):
                    setattr(function, name, decorate(each))
            return function
        takes_target = "target" in inspect.signature(function).parameters

        @functools.wraps(function)
        def run(*args, **kwargs):
            target = kwargs.get("target")
            if target is not None and _is_of(str(target), targets):
                act(str(target))
            return function(*args, **kwargs)

        return run if takes_target else pytest.mark.baton_except(act, *targets)(function)

    return decorate


def _is_of(target, wanted):
    """Whether `target` is one of `wanted`, each a kind, or a kind with options."""
    return any(target == each or target.split()[0] == each for each in map(str, wanted))


def exclude_targets(*args):
    """Decorator: skips a test for these targets."""
    import pytest

    return _for_targets(args, lambda target: pytest.skip(f"target {target} is excluded"))


def known_failing_targets(*args):
    """Decorator: a test is expected to fail for these targets."""
    import pytest

    return _for_targets(args, lambda target: pytest.xfail(f"target {target} is known to fail"))


def parameter(*values, ids=None, by_dict=None):
    """A fixture for tests of the module or class that it is assigned in: they run for each value. by_dict: values by id."""
    import pytest

    if by_dict is not None:
        if values or ids is not None:
            raise RuntimeError("parameter: by_dict stands in the place of values and ids")
        ids, values = zip(*by_dict.items())

    # A method's fixtures are bound to its object, those of the module, too.
    def value_of(*_self, request):
        return request.param

    return pytest.fixture(params=list(values), ids=list(ids) if ids is not None else None)(value_of)


def _opened(value_set, number, ids):
    """(values, id, marks) of one set, which may be a pytest.param."""
    values, marks, name = tuple(value_set), (), None
    if hasattr(value_set, "marks") and hasattr(value_set, "values"):
        values, marks, name = tuple(value_set.values), value_set.marks, value_set.id
    return values, (ids[number] if ids is not None else name or "-".join(map(_id_of, values))), marks


def _id_of(value):
    return value.__name__ if isinstance(value, type) or inspect.isfunction(value) else str(value)


def parameters(*value_sets, ids=None):
    """Fixtures that vary together: `a, b = parameters((1, 2), (3, 4))` runs tests of both with (1, 2) and (3, 4)."""
    import pytest

    sets = [_opened(each, number, ids) for number, each in enumerate(value_sets)]
    if any(len(values) != len(sets[0][0]) for values, _, _ in sets):
        raise ValueError("parameters: every set has as many values")
    group = object()

    def fixture_of(column):
        def value_of(*_self, request):
            chosen = request.node.__dict__.setdefault("_baton_parameters", {})
            if chosen.setdefault(group, request.param[0]) != request.param[0]:
                pytest.skip("these parameters vary together")
            return request.param[1]

        params = [pytest.param((number, values[column]), id=name, marks=marks) for number, (values, name, marks) in enumerate(sets)]
        value_of._baton_group = (group, column, sets)
        return pytest.fixture(params=params)(value_of)

    return tuple(fixture_of(column) for column in range(len(sets[0][0]) if sets else 0))


def fixture(func=None, *, cache_return_value=False):
    """A fixture of pytest. cache_return_value: made once for each set of arguments, and copied for every test."""
    import pytest

    if func is None:
        return lambda given: fixture(given, cache_return_value=cache_return_value)
    return pytest.fixture(_cached(func) if cache_return_value else func)


def _cached(func):
    import copy
    import pickle

    made = {}

    @functools.wraps(func)
    def cached(*args, **kwargs):
        try:  # a method's object is another one in each test
            key = pickle.dumps(([type(each) for each in args], sorted(kwargs.items())))
        except (TypeError, AttributeError, pickle.PicklingError):
            return func(*args, **kwargs)
        if key not in made:
            made[key] = func(*args, **kwargs)
        return copy.deepcopy(made[key])

    return cached
