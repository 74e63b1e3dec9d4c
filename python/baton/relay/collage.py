"""Cost-based partitioning, TVM's pass CollagePartition. Baton does not have it; estimators can be made."""
from .._aliases import same as _same
__path__ = []  # of modules below it, baton.tvm says why they are missing
MEASURE_NUMBER, MEASURE_REPEAT, WARMUP_MIN_REPEAT_MS = 20, 5, 250


class CostEstimator:
    """Estimates the cost of parts of a program."""

    def estimate(self, mod, target):
        """The cost of a module on a target: CollagePartition would ask, which raises NotImplementedError before it does."""
        raise NotImplementedError("CostEstimator.estimate: CollagePartition is not provided (docs/compatibility.md)")


class MockCostEstimator(CostEstimator):
    """Costs by kind of target, for every operator; at most `max_estimates` answers when that is not 0."""

    def __init__(self, target_costs, max_estimates=0):
        self.target_costs, self.max_estimates, self.estimates = dict(target_costs), max_estimates, 0

    def estimate(self, mod, target):
        """The sum of the costs of the calls of operators in a module."""
        from .._load import core

        self.estimates += 1
        if self.max_estimates and self.estimates > self.max_estimates:
            raise core.TVMError(f"MockCostEstimator: more than {self.max_estimates} estimates")
        return sum(core.op_frequencies(mod).values()) * self.target_costs[target.kind.name]


_same(globals(), "collage")
