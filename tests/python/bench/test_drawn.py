"""The networks that predictors are judged on: the same for one seed, others for another, and all of them can be built."""
import random

from networks import drawn


def names(seed, count=30, threads=(1, 2)):
    return [each.name for each in drawn.drawn(seed, count, threads)]


def test_a_seed_draws_the_same_networks_and_another_one_others():
    assert names("a") == names("a") and len(set(names("a"))) == 30
    assert len(set(names("a")) & set(names("b"))) < 25
    assert all(name.endswith(", 1 thread") for name in names("a", threads=(1,)))


def test_what_is_drawn_is_what_its_name_says():
    for kind in drawn.KINDS:
        network = kind(random.Random(7))
        if "resnet-18-" not in network.name and "dqn" not in network.name and "mlp" not in network.name:
            continue  # large ones take seconds
        module, params = network.build()
        batch = int(module["main"].params[0].checked_type.concrete_shape[0])
        assert f"-b{batch}" in network.name or batch == 1
        assert set(params) == {var.name_hint for var in module["main"].params[1:]}
