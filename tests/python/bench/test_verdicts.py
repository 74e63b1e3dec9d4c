"""What bench/compare makes of measured times, without measuring."""
import pytest
import run_builds
import run_layers
import run_networks


@pytest.mark.parametrize("ratio, bar, roof, expected", [
    (0.49, 0.5, None, "ok"),
    (0.51, 0.5, None, "MISSED"),
    (0.51, 0.5, {"fraction": 0.96, "known": 0.97}, "ok, at the roof"),
    (0.51, 0.5, {"fraction": 0.96, "known": 0.5}, "MISSED"),
    (1.04, 1.0, None, "ok, a tie"),
    (1.06, 1.0, None, "MISSED"),
    (0.54, 0.52, None, "MISSED"),  # a tie with the bar is none: only with the peer
])
def test_verdict(ratio, bar, roof, expected):
    assert run_networks.verdict(ratio, bar, roof) == expected


def engine(cpu_ms, wall_ms, difference=1e-6):
    return {"best_cpu_s": cpu_ms / 1e3, "median_wall_s": wall_ms / 1e3, "max_difference": difference, "quiet": 10, "version": "x"}


def report(threads, **peers):
    return {"threads": threads, "peers": peers, "peaks": {"gflops": 100, "gbytes_per_s": 20}, "bursts": [], "compile_s": 1, "best_cpu_s": 1}


def test_one_thread_goes_by_cpu_time_and_two_by_wall_time_against_the_best_peer():
    peers = {"python": engine(5, 3), "ort": engine(10, 4), "openvino": engine(8, 6)}
    one, two = (run_networks.compared(report(threads, **peers), 0.7, None) for threads in (1, 2))
    assert (one["best"], one["ratio"], one["verdict"]) == ("openvino", pytest.approx(5 / 8), "ok")
    assert (two["best"], two["ratio"], two["verdict"]) == ("ort", pytest.approx(3 / 4), "MISSED")


@pytest.mark.parametrize("difference", [2e-4, 1e30])
def test_other_outputs_are_no_result(difference):
    row = run_networks.compared(report(1, python=engine(5, 3), ort=engine(10, 4, difference)), 0.7, None)
    assert row["verdict"] == "OUTPUTS DIFFER" and not row["ok"]


@pytest.mark.parametrize("ours, theirs, holds", [(2.0, 2.0, True), (2.4, 2.0, False), (2.4, 2.4, True)])
def test_threads_help_as_much_as_they_help_a_peer(ours, theirs, holds):
    one = run_networks.compared(report(1, python=engine(4, 4), ort=engine(10, 4)), None, None)
    two = run_networks.compared(report(2, python=engine(4, ours), ort=engine(10, theirs)), 3.0, None)
    run_networks.add_scaling(two, [one])
    assert two["scales"] == holds == two["ok"]


def kernel(title, us, roofline, nominal=False):
    return {"title": title, "func_name": title, "median_us": us, "roofline": roofline, "bound": "compute", "nominal": nominal}


def test_the_kernels_that_lose_most_are_named_equal_ones_together():
    kernels = [kernel("dense 1x8, line 3", 10, 0.9), *(kernel(f"conv 3x3, line {line}", 6, 0.5) for line in (4, 5)),
               kernel("winograd, line 6", 100, 2, True)]
    found = run_networks.against_roof({"kernels": kernels, "functions": {}})
    assert [(each["name"], each["count"], each["lost_us"]) for each in found["kernels"]] == [
        ("conv 3x3", 2, 6.0), ("dense 1x8", 1, pytest.approx(1.0)), ("winograd", 1, 0.0)]
    assert found["roof"]["known"] == pytest.approx(22 / 122) and found["roof"]["fraction"] == pytest.approx(15 / 22)
    assert not found["slow"]


def test_without_reliable_times_no_bar_holds_by_the_roof():
    found = run_networks.against_roof({"kernels": [kernel("a", 10, 1.0), kernel("b", None, None)], "functions": {}})
    assert found["roof"]["unreliable"] == 1 and run_networks.verdict(0.8, 0.7, found["roof"]) == "MISSED"


def test_the_bars_of_random_layers(capsys):
    row = {"kind": "conv", "name": "0 conv", "baton_us": 1.0, "peers_us": {"onednn": 1.0}, "difference": 0.0}
    assert run_layers.report([{**row, "ratio": 0.5}, {**row, "ratio": 1.4}])
    assert "measured     0.837  ok" in capsys.readouterr().out
    assert not run_layers.report([{**row, "ratio": 0.1}, {**row, "ratio": 1.6}])
    assert not run_layers.report([{**row, "ratio": 0.5, "difference": 1e-3}])


@pytest.mark.parametrize("cold, cached, slowest, built, loaded, holds", [(1.4, 0.1, 0.9, 119, 99, True), (1.6, 0.1, 0.9, 119, 99, False), (1.4, 0.2, 0.9, 119, 99, False),
                                                                (1.4, 0.1, 1.1, 119, 99, False), (1.4, 0.1, 0.9, 121, 99, False), (1.4, 0.1, 0.9, 119, 101, False)])
def test_the_bars_of_builds(cold, cached, slowest, built, loaded, holds):
    def times(seconds):
        return {"seconds": seconds, "cpu": 2 * seconds, "kernels": 20, "slowest": {"func_name": "conv", "seconds": slowest}}

    memory = {"baton": built, "ort": 100, "loaded": loaded}
    assert run_builds.report("resnet-18", {"cold": times(cold), "cached": times(cached), "memory_mb": memory, "artifact_mb": 50}) == holds
