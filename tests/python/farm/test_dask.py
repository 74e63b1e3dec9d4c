"""`baton measure --on dask://...` with a real scheduler and workers: what is measured, what is not, and what is said."""
import collections
import json
import pathlib
import subprocess
import sys

import psutil
import pytest
from cluster import PROGRAM, RUNNER, Campaign, Cluster, descendants, end_all, free_port, interrupt, until

FOUR = ["m0", "m1", "m2", "m3"]


def test_four_machines_measure_everything_once(tmp_path, spoiling):
    with Cluster(tmp_path, runner=spoiling) as cluster:
        for name in FOUR:
            cluster.start_worker(name)
        cluster.wait_for_workers()
        campaign = Campaign(tmp_path, cluster.on, patterns=14, threads=[1, 2])
        planned = campaign.planned()
        process = campaign.start()
        farm = until(lambda: [each for each in descendants(process.pid) if "--on" in each.cmdline()], "the farm's process", process)[0]
        until(campaign.rows, "a row", process)
        for pid in [farm.pid, cluster.scheduler.pid, *(worker.pid for worker in cluster.workers.values())]:
            listening = [each.laddr.ip for each in psutil.Process(pid).net_connections("inet") if each.status == psutil.CONN_LISTEN]
            assert set(listening) <= {"127.0.0.1"}, "a service is open to other machines"
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        report = json.loads(out)
        assert (report["measured"], report["failed"]) == (len(planned), 0) and "distributed" not in err and "Error" not in err, err
        assert campaign.check_whole() == planned and len(planned) == 28
        # Which machine measured what, by what they wrote down themselves.
        measured, came = {}, collections.defaultdict(set)
        for name in FOUR:
            for line in (tmp_path / f"{name}.jobs").read_text(encoding="utf-8").splitlines():
                job = json.loads(line)
                measured[job["id"]] = name
                came[name, job["bundle"]].add(job["came"])
        assert dict(campaign.sql("select distinct configuration, machine from rows where kind != 'reference'")) == measured
        assert set(measured.values()) == set(FOUR), "a machine had nothing to do"
        assert all(len(moments) == 1 for moments in came.values()), "a bundle came twice to a machine"
        assert {row[0] for row in campaign.sql("select machine from rows where kind = 'reference'")} == set(FOUR)
        assert campaign.sql("select count(*) from rows where kind != 'reference' and reference_us = 0")[0][0] <= len(FOUR)
        until(lambda: not cluster.runners(), "the end of the runners of a campaign that has ended")
        assert campaign.report()["finished_before"] == len(planned)


def test_what_hangs_crashes_or_computes_something_else_costs_a_row(tmp_path, spoiling):
    with Cluster(tmp_path, runner=spoiling) as cluster:
        for name, what in zip(FOUR[:3], ["hang", "wrong", "crash"]):
            (tmp_path / f"{name}.{what}").touch()
            cluster.start_worker(name)
        cluster.wait_for_workers()
        # A runner may wait for its core for ten seconds, which is no hang.
        campaign = Campaign(tmp_path, cluster.on, patterns=18, protocol={"max_seconds": 0.15, "cv": 1e-9, "time_limit_s": 12})
        report = campaign.report()
        assert report["measured"] + report["failed"] == 18 and campaign.check_whole() == campaign.planned()
        why = {machine: text for _, machine, text in campaign.failures()}
        assert why["m0"] == "failed: no answer in 12 s: the runner was ended"
        assert why["m1"].startswith("failed: outputs differ from the reference run")
        assert why["m2"].startswith("failed: the runner was killed by signal 11")
        assert report["failed"] == 3 and {each["configuration"] for each in report["failures"]} == {row[0] for row in campaign.failures()}
        # They stay failed until they are to be tried again, and then only they are.
        assert campaign.report()["finished_before"] == 18
        again = campaign.report("--retry-failed")
        assert (again["finished_before"], again["retried"], again["measured"], again["failed"]) == (15, 3, 3, 0)
        assert len(campaign.failures()) == 3, "the store keeps what was"
        assert campaign.report("--retry-failed")["finished_before"] == 18
        status = json.loads(subprocess.run([PROGRAM, "measure", "--status", "--json", "--campaign", "c", "--store", str(campaign.store)],
                                           check=True, capture_output=True, text=True).stdout)
        assert (status["configurations"], status["failed"]) == (18, 0)


def test_a_campaign_that_is_interrupted_frees_its_machines(tmp_path):
    with Cluster(tmp_path) as cluster:
        cluster.start_worker("m0")
        campaign = Campaign(tmp_path, cluster.on, patterns=8, protocol={"max_seconds": 100, "cv": 1e-9, "time_limit_s": 300})
        process = campaign.start()
        begun = until(lambda: campaign.sql("select 1 from rows where kind = 'reference'"), "a reference run", process)
        interrupt(process)
        out, err = process.communicate(timeout=60)
        assert begun and process.returncode == 130 and json.loads(out)["partial"] == "interrupted", err
        until(lambda: not cluster.runners(), "the end of a job that nobody waits for")
        # Nor does one that is killed hold up the next one.
        killed = campaign.start()
        until(cluster.runners, "a runner")
        farm = descendants(killed.pid)
        killed.kill()
        end_all(farm)
        killed.wait()
        campaign.environment["BATON_MACHINE"] = "another"
        (tmp_path / "design.json").write_text(json.dumps({"visits": 1, "protocol": {"max_seconds": 0.05}, "patterns": 2}), encoding="utf-8")
        report = campaign.report("--worker-wait", "20")
        assert report["finished_before"] + report["measured"] == 2, report
        assert cluster.log("m0").count("Traceback") == 0, cluster.log("m0")


def test_a_scheduler_that_is_not_there(tmp_path):
    status, _, err = Campaign(tmp_path, f"dask://127.0.0.1:{free_port()}", patterns=1).run()
    assert status == 1 and "there is no scheduler at tcp://127.0.0.1:" in err and "`dask scheduler`" in err and "Traceback" not in err


def test_machines_that_cannot_measure_say_why(tmp_path):
    with Cluster(tmp_path) as cluster:
        campaign = Campaign(tmp_path, cluster.on, "--worker-wait", "1", patterns=1)
        status, _, err = campaign.run()
        assert status == 1 and "no machine came to the scheduler" in err and f"`dask worker tcp://127.0.0.1:{cluster.port}" in err
        cluster.start_worker("many", resources=())
        cluster.start_worker("bare", BATON_RUNNER="", PATH="/usr/bin:/bin")
        (tmp_path / "file").touch()
        cluster.start_worker("full", BATON_BUNDLE_CACHE=str(tmp_path / "file"))
        cluster.start_worker("broken", BATON_RUNNER="/bin/false")
        cluster.wait_for_workers()
        status, _, err = Campaign(tmp_path, cluster.on, "--worker-wait", "8", patterns=1).run()
        assert status == 1 and "Traceback" not in err
        for reason in ("without `--resources machine=1`", "there is no baton-runner: put it into PATH there", "File exists",
                       "/bin/false ended with status 1 before it greeted"):
            assert reason in err, err


def test_a_python_without_distributed_says_what_to_install(tmp_path):
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n', encoding="utf-8")
    (tmp_path / "python").chmod(0o700)
    campaign = Campaign(tmp_path, "dask://127.0.0.1:1", patterns=1)
    campaign.environment["BATON_PYTHON"] = str(tmp_path / "python")
    status, _, err = campaign.run()
    assert status == 1 and "pip install 'baton-compiler[farm]'" in err, err


@pytest.mark.parametrize("on, words, message", [
    ("dask://nowhere", (), "give local, ssh://HOST,..., dask://SCHEDULER:PORT or slurm"),
    ("ssh://a?pyton=/p", (), "there is no option `pyton`; there are python, runner"),
    ("slurm?job=2", (), "there is no option `job`"),
    ("slurm?jobs=two", (), "jobs=two is no number of jobs"),
    ("dask://127.0.0.1:1", ("--key", "/nowhere"), "/nowhere"),
    ("dask://127.0.0.1:1", ("--tls-ca-file", "/nowhere/ca.pem"), "TLS needs --tls-cert and --tls-key, too"),
    ("dask://127.0.0.1:1", ("--tls-ca-file", "/nowhere/ca.pem", "--tls-cert", "/c", "--tls-key", "/k"), "with /nowhere/ca.pem, /c, /k"),
])
def test_says_what_is_wrong(tmp_path, on, words, message):
    status, _, err = Campaign(tmp_path, on, *words, patterns=1).run()
    assert status in (1, 2) and message in err and "Traceback" not in err, err


def certificates(folder):
    """A certificate of its own authority for 127.0.0.1: (its file, its key's file)."""
    made = pathlib.Path(folder) / "certificate.pem", pathlib.Path(folder) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", made[0], "-keyout", made[1]], check=True,
                   capture_output=True)
    return made


def test_tls_and_signed_bundles(tmp_path):
    certificate, key = certificates(tmp_path)
    flags = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    secret = tmp_path / "secret"
    subprocess.run([PROGRAM, "bundle", "keygen", str(secret)], check=True, capture_output=True)
    with Cluster(tmp_path, flags=flags) as cluster:
        cluster.start_worker("m0", BATON_TRUSTED_KEYS=f"{secret}.pub")
        plain = Campaign(tmp_path, cluster.on, "--worker-wait", "1", patterns=3)
        status, _, err = plain.run()
        assert status == 1 and "there is no scheduler" in err, "an unencrypted client was served"
        unsigned = Campaign(tmp_path, cluster.on, *flags, patterns=3)
        report = unsigned.report()
        assert (report["measured"], report["failed"]) == (0, 3) and all("sign" in row[2] for row in unsigned.failures())
        signed = Campaign(tmp_path, cluster.on, *flags, "--key", secret, "--retry-failed", patterns=3)
        report = signed.report()
        assert (report["measured"], report["retried"]) == (3, 3), report
        assert set(signed.sql("select distinct machine from rows where unreliable is null or unreliable not like 'failed%'")) == {("m0",)}


def test_from_python(tmp_path, monkeypatch):
    import baton

    monkeypatch.setenv("BATON_PYTHON", "")
    design = {"protocol": {"max_seconds": 0.05}, "visits": 1}
    with Cluster(tmp_path) as cluster:
        cluster.start_worker("m0", BATON_RUNNER="")
        measure = dict(store=tmp_path / "s.db", patterns=3, seed=5, wait=0, design=design, on=cluster.on)
        report = baton.measure(**measure, runner=RUNNER)
        assert (report["measured"], report["failed"]) == (3, 0)
        again = baton.measure(**measure, runner=RUNNER, retry_failed=True)
        assert (again["finished_before"], again["retried"]) == (3, 0)
    with pytest.raises(baton.error.TVMError, match="give local, ssh://HOST"):
        baton.measure(**measure | {"patterns": 4, "on": "dask://nowhere"})


