"""Runners that say other times than they measured (spoiling_runner.py): each costs its row, which says why it is not believed."""
import pytest
from cluster import Campaign, Cluster

WHY = {
    "zeros": "a sample of 0 us",
    "huge": "not believed: ",  # no clock reads them, nor did the job take so long
    "thousandth": "at ten times its device's rates",
    "constant": "which no clock reads",
    "dropped": "the runner answered not a result of a job: neither rows nor why there are none",
    "name": "the runner on name says that it is of elsewhere",
}
# Long enough for ten times as long to be longer than the job took.
PROTOCOL = {"max_seconds": 0.5, "cv": 1e-9}


def test_each_lie_costs_its_row(tmp_path, spoiling):
    with Cluster(tmp_path, runner=spoiling) as cluster:
        for lie in WHY:  # a machine that is called like its lie
            (tmp_path / f"{lie}.{lie}").touch()
            cluster.start_worker(lie)
        cluster.wait_for_workers()
        # Of one dense layer, whose work no runner does in a thousandth of the time.
        campaign = Campaign(tmp_path, cluster.on, patterns=28, protocol=PROTOCOL, uncertainty={"nn.dense": 1000})
        report = campaign.report()
        assert report["measured"] + report["failed"] == 28 and campaign.check_whole() == campaign.planned()
        said = {machine: text for _, machine, text in campaign.failures()}
        told = {lie for lie in WHY if not (tmp_path / f"{lie}.{lie}").exists()}
        assert len(told) >= len(WHY) - 1, "machines had nothing to do"
        for lie in told:
            machine = lie if lie in said else "asks"  # what cannot be read has no machine
            assert WHY[lie] in said[machine], (lie, campaign.failures())
        assert report["failed"] == len(told), report["failures"]
        assert not campaign.sql("select 1 from rows where machine = 'elsewhere'")


def test_ten_times_the_time_is_longer_than_the_job_took(tmp_path, spoiling):
    with Cluster(tmp_path, runner=spoiling) as cluster:
        (tmp_path / "m0.tenfold").touch()
        cluster.start_worker("m0")
        cluster.wait_for_workers()
        campaign = Campaign(tmp_path, cluster.on, patterns=2, protocol=PROTOCOL)
        report = campaign.report()
        if report["failed"] == 0 and campaign.sql("select 1 from rows where kind != 'reference' and others_busy > 0.5"):
            pytest.skip("beside other programs only the least disturbed samples are told, and do not sum up to the time they took")
        assert report["failed"] == 1 and "its samples sum up to" in campaign.failures()[0][2], campaign.failures()


def test_a_slow_reference_kernel_tells_another_machine(tmp_path, spoiling):
    with Cluster(tmp_path, runner=spoiling) as cluster:
        (tmp_path / "m0.reference.hundredfold").touch()
        cluster.start_worker("m0")
        cluster.wait_for_workers()
        campaign = Campaign(tmp_path, cluster.on, patterns=3)
        report = campaign.report()
        assert any("the reference kernel's time on m0 is not believed" in note for note in report["notes"]), report["notes"]
        assert report["timed_rows"] == 0
        unreliable = {row[0] for row in campaign.sql("select unreliable from rows where kind != 'reference'")}
        assert unreliable and all("not believed" in text for text in unreliable), unreliable
