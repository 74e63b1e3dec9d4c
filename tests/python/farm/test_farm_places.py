"""The real `ssh://` and `slurm` with scripts in the place of ssh and of Slurm's commands, that run on this machine what they are given."""
import pathlib
import sys
import time

import psutil
import pytest
from cluster import QUIET, RUNNER, Campaign, until

SSH = """#!/bin/sh
printf '%s\\n' "$*" >> FOLDER/ssh.calls
while [ $# -gt 2 ]; do shift; done
case $1 in gone) echo 'no route to host gone' >&2; exit 255;; esac
export BATON_MACHINE=$1 BATON_MACHINE_LOCK=FOLDER/$1.lock BATON_BUNDLE_CACHE=FOLDER/$1.bundles
exec sh -c "$2"
"""
SBATCH = """#!/bin/sh
exec 9> FOLDER/sbatch.lock; flock 9
number=$(($(cat FOLDER/jobs 2>/dev/null || echo 0) + 1))
echo $number > FOLDER/jobs
cp "$1" FOLDER/job.$number
BATON_MACHINE=s$number BATON_MACHINE_LOCK=FOLDER/s$number.lock BATON_BUNDLE_CACHE=FOLDER/s$number.bundles \\
  setsid bash FOLDER/job.$number > FOLDER/job.$number.log 2>&1 < /dev/null 9>&- &
echo $! > FOLDER/job.$number.pid
echo "Submitted batch job $number"
"""
SCANCEL = """#!/bin/sh
for number; do echo $number >> FOLDER/cancelled; kill -TERM -$(cat FOLDER/job.$number.pid) 2>/dev/null; done
exit 0
"""


@pytest.fixture(name="path")
def _path(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("ssh", SSH), ("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / name).write_text(text.replace("FOLDER", str(tmp_path)), encoding="utf-8")
        (folder / name).chmod(0o700)
    return str(folder)


def campaign_at(tmp_path, path, on, *words, **design):
    campaign = Campaign(tmp_path, on, *words, **design)
    campaign.environment["PATH"] = path + ":" + campaign.environment["PATH"]
    return campaign


def started_in(folder):
    """Processes that were started with something of `folder` in their words."""
    def names(process):
        try:
            return any(str(folder) in word for word in process.cmdline()) or "dask_worker" in " ".join(process.cmdline()) and \
                process.environ().get("BATON_BUNDLE_CACHE", "").startswith(str(folder))
        except psutil.Error:
            return False
    return [process for process in psutil.process_iter() if names(process)]


def test_ssh(tmp_path, path):
    campaign = campaign_at(tmp_path, path, f"ssh://one,two:2222,gone?python={sys.executable}&runner={RUNNER}", patterns=12,
                           protocol={"max_seconds": 0.4, "cv": 1e-9})  # long enough for the second one to come
    process = campaign.start()
    until(campaign.rows, "a row", process)
    workers = [each for each in started_in(tmp_path) if "dask_worker" in " ".join(each.cmdline())]
    listening = {one.laddr.ip for each in workers for one in each.net_connections("inet") if one.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}, "a service is open to other machines"
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "no route to host gone" in err and "farm: ssh to gone ended with status 255" in err
    assert {row[0] for row in campaign.sql("select distinct machine from rows")} == {"one", "two"}
    assert campaign.check_whole() == campaign.planned() and not campaign.failures(), out
    calls = (tmp_path / "ssh.calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 3 and all("BatchMode=yes" in call and " -R " in call and QUIET_WORD in call for call in calls)
    assert any("-p 2222" in call for call in calls)
    until(lambda: not started_in(tmp_path), "the end of the workers of a campaign that has ended")


QUIET_WORD = "=".join(next(iter(QUIET.items())))


def test_ssh_to_nowhere_does_not_wait(tmp_path, path):
    status, _, err = campaign_at(tmp_path, path, "ssh://gone", "--worker-wait", "1000", patterns=1).run()
    assert status == 1 and "ssh to gone ended with status 255" in err and "no route to host gone" in err and "Traceback" not in err, err


def test_slurm(tmp_path, path):
    on = f"slurm?jobs=2&queue=fast&directives=-C avx2&python={sys.executable}&runner={RUNNER}"
    campaign = campaign_at(tmp_path, path, on, patterns=8)
    report = campaign.report()
    assert (report["measured"], report["failed"]) == (8, 0) and campaign.check_whole() == campaign.planned()
    assert {row[0] for row in campaign.sql("select distinct machine from rows")} <= {"s1", "s2"}
    script = (tmp_path / "job.1").read_text(encoding="utf-8")
    for line in ("#SBATCH -p fast", "#SBATCH --exclusive", "#SBATCH -C avx2", "machine=1", QUIET_WORD):
        assert line in script, script
    assert sorted(pathlib.Path(tmp_path / "cancelled").read_text(encoding="utf-8").split()) == ["1", "2"], "jobs were left behind"
    until(lambda: not [each for each in started_in(tmp_path) if "dask_worker" in " ".join(each.cmdline())], "the end of the jobs")


def test_slurm_without_its_commands_does_not_wait(tmp_path):
    """It was a traceback of dask_jobqueue, after a minute of waiting for machines."""
    began = time.monotonic()
    status, _, err = Campaign(tmp_path, "slurm?jobs=2", patterns=1).run()
    assert status == 1 and "there is no `sbatch` and no `scancel` in PATH" in err and "Traceback" not in err, err
    assert time.monotonic() - began < 45, "on a busy machine importing distributed takes long, waiting for a machine a minute"


def test_what_sbatch_refuses_is_said(tmp_path, path):
    (tmp_path / "bin" / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid account' >&2\nexit 1\n", encoding="utf-8")
    status, _, err = campaign_at(tmp_path, path, "slurm?jobs=2", patterns=1).run()
    assert status == 1 and "sbatch refused a job: sbatch: error: invalid account" in err and "Traceback" not in err, err
