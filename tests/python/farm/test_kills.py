"""Whatever is killed, and whenever: what was committed stays, nothing is there twice, and the same command measures the rest."""
import random

import pytest
from cluster import Campaign, Cluster, descendants, end_all, until

VICTIMS = ["runner", "worker", "scheduler", "campaign"]


def kill_campaign(process):
    """With the farm's process, or without it, as its machine may be lost or not."""
    farm = descendants(process.pid)
    process.kill()
    return farm


def killed(tmp_path, victims, patterns, seed):
    choose = random.Random(seed)
    with Cluster(tmp_path) as cluster:
        for name in ("m0", "m1", "m2", "m3"):
            cluster.start_worker(name)
        campaign = Campaign(tmp_path, cluster.on, patterns=patterns)
        planned = campaign.planned()
        process, kept, hit = None, set(), 0
        for victim in victims:
            if process is None:
                process = campaign.start()
            # So many more rows, and a moment: it hits builds, bundles on their way, and kernels that are measured.
            goal = len(campaign.rows()) + choose.randint(1, 3)
            until(lambda: len(campaign.rows()) >= goal or process.poll() is not None, "more rows")
            try:
                process.wait(choose.uniform(0, 0.4))
            except Exception:  # pylint: disable=broad-exception-caught  # it goes on
                pass
            hit += process.poll() is None
            if victim == "campaign":
                farm = kill_campaign(process)
                if choose.random() < 0.5:
                    end_all(farm)
            else:
                getattr(cluster, f"kill_{victim}")(choose)
            if victim in ("campaign", "scheduler") or process.poll() is not None:
                _, err = process.communicate(timeout=120)
                if victim == "scheduler" and process.returncode:
                    assert process.returncode == 1 and "the scheduler at" in err and "what was measured is kept" in err, err
                process = None
            now = set(campaign.rows())
            assert kept <= now, "a kill lost rows that were committed"
            kept = now
        if process:
            _, err = process.communicate(timeout=600)
            assert process.returncode == 0, err
        report = campaign.report()
        assert report["finished_before"] + report["measured"] == len(planned) and report["failed"] == 0
        assert campaign.check_whole() == planned
        assert not campaign.failures(), "a kill was taken for a job's fault"
        assert hit >= len(victims) * 3 // 4, "the campaign had ended before it was hit"


@pytest.mark.parametrize("victims", [VICTIMS[:2], VICTIMS[2:]])
def test_kills_lose_nothing(tmp_path, victims):
    killed(tmp_path, victims, patterns=16, seed=7)


@pytest.mark.slow
def test_twenty_kills_lose_nothing(tmp_path):
    choose = random.Random(11)
    killed(tmp_path, [choose.choice(VICTIMS) for _ in range(20)], patterns=140, seed=13)
