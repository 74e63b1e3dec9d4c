"""Natural numbers of the standard library (nat.rly): zero is `Z`, n + 1 is `S(n)`."""


def _constructors(prelude):
    return prelude.mod.get_type("nat")[1:]


def make_nat_expr(prelude, n):
    """The expression for the number `n` >= 0, of constructors of the data type "nat" in prelude.mod."""
    if n < 0:
        raise ValueError(f"make_nat_expr: {n} is no natural number")
    zero, successor = _constructors(prelude)
    result = zero()
    for _ in range(n):
        result = successor(result)
    return result


def make_nat_value(prelude, n):
    """The value of the number `n` >= 0: a ConstructorValue."""
    from ..backend.interpreter import ConstructorValue

    if n < 0:
        raise ValueError(f"make_nat_value: {n} is no natural number")
    zero, successor = _constructors(prelude)
    result = ConstructorValue(zero.tag, [], zero)
    for _ in range(n):
        result = ConstructorValue(successor.tag, [result], successor)
    return result


def count(prelude, n):
    """The int that a ConstructorValue of "nat" stands for. TypeError for another value."""
    zero, successor = _constructors(prelude)
    total = 0
    while True:
        tag = getattr(n, "tag", None)
        if tag == zero.tag:
            return total
        if tag != successor.tag:
            raise TypeError(f"count: a value of data type nat is expected, not {n!r}")
        n, total = n.fields[0], total + 1
