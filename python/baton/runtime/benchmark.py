"""Results of time measurements."""
from .._wanted import listed, wanted


class BenchmarkResult:
    """Times of repeated runs, in seconds: mean, median, min, max, std (of all runs, not of a sample), results."""

    def __init__(self, results):
        self.results = [wanted("a time", each, (int, float), "a number of seconds") for each in listed("results", results)]
        if not self.results:
            raise ValueError("a BenchmarkResult needs at least one time")
        ordered, count = sorted(self.results), len(self.results)
        self.min, self.max, self.mean = ordered[0], ordered[-1], sum(ordered) / count
        self.median = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
        self.std = (sum((each - self.mean) ** 2 for each in ordered) / count) ** 0.5

    def __repr__(self):
        return (f"BenchmarkResult(min={self.min}, mean={self.mean}, median={self.median}, max={self.max}, std={self.std}, "
                f"results={self.results})")

    def __str__(self):
        names = ("mean", "median", "max", "min", "std")
        head = " ".join(f"{name + ' (ms)':^12}" for name in names)
        body = " ".join(f"{format(getattr(self, name) * 1000, '.4f'):^12}" for name in names)
        return f"Execution time summary:\n{head}\n{body}\n{' ' * 15}"
