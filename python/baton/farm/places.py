"""Where a farm's workers are: an existing scheduler, machines reached by ssh, or jobs of Slurm."""
import asyncio
import contextlib
import shlex
import shutil
import socket
import sys
import urllib.parse

import dask

# Read when distributed is imported: its notes on every connection are not for whoever measures.
dask.config.set({"logging": {"distributed": "warning", "distributed.client": "error"}})

from distributed import Client, Scheduler  # noqa: E402  pylint: disable=wrong-import-position
from distributed.security import Security  # noqa: E402  pylint: disable=wrong-import-position

RESOURCE = "machine"  # one token per worker: distributed never gives one machine two jobs
LOOPBACK = "127.0.0.1"
PAGES = f"{LOOPBACK}:0"  # of the server of pages, which listens everywhere unless told otherwise, also without a dashboard
# Of workers that are started here: their profiler would interrupt what is measured a hundred times a second.
NO_PROFILER = "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False"


class Gone(Exception):
    """The farm cannot go on; the text says why and what to do."""


def security_of(options):
    files = {"--tls-ca-file": options.tls_ca_file, "--tls-cert": options.tls_cert, "--tls-key": options.tls_key}
    if not any(files.values()):
        return None
    if missing := [flag for flag, path in files.items() if not path]:
        raise Gone(f"TLS needs {' and '.join(missing)}, too")
    given = {"tls_ca_file": options.tls_ca_file, "require_encryption": True}
    for role in ("client", "scheduler", "worker"):
        given[f"tls_{role}_cert"] = options.tls_cert
        given[f"tls_{role}_key"] = options.tls_key
    security = Security(**given)
    try:
        security.get_connection_args("client")
    except OSError as error:  # ssl's errors are some
        raise Gone(f"TLS cannot be used with {', '.join(files.values())}: {error}") from None
    return security


class Place:
    """A client of the scheduler, its address to show, and baton-runner on its machines ("": options say)."""

    def __init__(self, client, address, runner=""):
        self.client, self.address, self.runner = client, address, runner

    def none_comes(self):
        """Whether no worker will come any more."""
        return False

    def advice(self, address):
        return f"Workers are started with `dask worker {address} --nthreads 1 --no-nanny --resources {RESOURCE}=1`"


class SshPlace(Place):
    def __init__(self, client, address, runner, started):
        super().__init__(client, address, runner)
        self._started = started

    def none_comes(self):
        return all(process.returncode is not None for _, process in self._started)

    def advice(self, address):
        return "; ".join(f"ssh to {host} " + ("has started no worker yet" if process.returncode is None else
                                             f"ended with status {process.returncode}") for host, process in self._started) + \
            ": what it wrote stands above. A machine needs baton-runner and a Python with distributed (?python=P&runner=R)"


class SlurmPlace(Place):
    def advice(self, address):
        return "`squeue` says what became of the jobs: they need a Python with distributed, and must reach the scheduler (?interface=I)"


@contextlib.asynccontextmanager
async def open_place(options):
    """The Place that `options.on` names; what was started for it ends with it."""
    async with contextlib.AsyncExitStack() as stack:
        security = security_of(options)
        kind, rest = split(options.on)
        if kind == "dask":
            address = ("tls://" if security else "tcp://") + rest
            yield Place(await connect(stack, address, security), address)
        elif kind == "ssh":
            scheduler = await start_scheduler(stack, security, LOOPBACK)
            hosts, query = rest
            started = [(host, await start_by_ssh(stack, scheduler, host, query, options)) for host in hosts]
            client = await connect(stack, scheduler.address, security)
            yield SshPlace(client, scheduler.address, query.get("runner", ""), started)
        else:
            cluster = await start_slurm(stack, rest, options, security)
            address = cluster.scheduler_address
            yield SlurmPlace(await connect(stack, address, security), address, rest.get("runner", ""))


def split(on):
    """"ssh://a,b?python=/p" -> ("ssh", (["a", "b"], {"python": "/p"})); Gone for what is none of the three."""
    kind, _, rest = on.partition("://")
    words, _, query = rest.partition("?")
    if kind == "dask" and words and ":" in words:
        return "dask", words
    given = dict(urllib.parse.parse_qsl(query))
    if kind == "ssh" and words:
        return "ssh", ([host for host in words.split(",") if host], check(given, {"python", "runner"}, on))
    kind, _, query = on.partition("?")
    if kind == "slurm":
        allowed = {"jobs", "queue", "account", "walltime", "memory", "interface", "host", "python", "runner", "directives"}
        return "slurm", check(dict(urllib.parse.parse_qsl(query)), allowed, on)
    raise Gone(f"--on {on}: give local, ssh://HOST,..., dask://SCHEDULER:PORT or slurm")


def check(given, allowed, on):
    for name in given:
        if name not in allowed:
            raise Gone(f"--on {on}: there is no option `{name}`; there are {', '.join(sorted(allowed))}")
    return given


async def connect(stack, address, security):
    try:
        return await stack.enter_async_context(Client(address, asynchronous=True, security=security, timeout=10,
                                                      set_as_default=False))
    except (OSError, TimeoutError, asyncio.TimeoutError) as error:
        raise Gone(f"there is no scheduler at {address} ({type(error).__name__}): start one (`dask scheduler`), "
                   "or see that address and TLS options are its own") from None


async def start_scheduler(stack, security, host):
    return await stack.enter_async_context(Scheduler(host=host, port=0, dashboard=False, dashboard_address=PAGES, security=security))


async def start_by_ssh(stack, scheduler, host, query, options):
    """One worker through the system's ssh. Both sides stay on loopback: ssh carries their connections."""
    port = scheduler.port
    own = free_port()
    name, _, ssh_port = host.partition(":")
    worker = [query.get("python", "python3"), "-m", "distributed.cli.dask_worker", f"{scheduler.address.split(':')[0]}://{LOOPBACK}:{port}",
              "--host", LOOPBACK, "--worker-port", str(own), *worker_flags(options), "--name", host, "--death-timeout", "60"]
    # No group of its own: what ends the farm ends ssh, too.
    command = ["ssh", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-o", "ServerAliveInterval=15",
               *(["-p", ssh_port] if ssh_port else []), "-R", f"{port}:{LOOPBACK}:{port}", "-L", f"{own}:{LOOPBACK}:{own}", name,
               f"exec env {NO_PROFILER} " + " ".join(map(shlex.quote, worker))]
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr)
    except OSError as error:
        raise Gone(f"ssh cannot be started: {error}") from None
    tell = asyncio.create_task(tell_end(process, host))

    async def end():
        tell.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), 1)
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    stack.push_async_callback(end)
    return process


async def tell_end(process, host):
    status = await process.wait()
    print(f"farm: ssh to {host} ended with status {status}", file=sys.stderr)


def worker_flags(options):
    flags = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--dashboard-address", PAGES, "--resources", f"{RESOURCE}=1"]
    for flag, value in (("--tls-ca-file", options.tls_ca_file), ("--tls-cert", options.tls_cert), ("--tls-key", options.tls_key)):
        flags += [flag, value] if value else []
    return flags


async def start_slurm(stack, query, options, security):
    jobs = query.get("jobs", "1")
    if not jobs.isdecimal() or int(jobs) < 1:
        raise Gone(f"--on slurm: jobs={jobs} is no number of jobs")
    if missing := [name for name in ("sbatch", "scancel") if not shutil.which(name)]:
        raise Gone(f"--on slurm: there is no `{'` and no `'.join(missing)}` in PATH: start the campaign where Slurm's commands are, a login "
                   "node; machines without Slurm are reached by ssh://HOST,...")
    from dask_jobqueue import SLURMCluster

    network = {"interface": query["interface"]} if "interface" in query else {"host": query.get("host", LOOPBACK)}
    cluster = SLURMCluster(
        asynchronous=True, cores=1, processes=1, memory=query.get("memory", "2GB"), nanny=False,
        python=query.get("python", sys.executable), queue=query.get("queue"), account=query.get("account"),
        walltime=query.get("walltime", "01:00:00"), interface=query.get("interface"), security=security,
        scheduler_options={**network, "dashboard": False, "dashboard_address": PAGES},
        # A machine is measured on alone.
        job_extra_directives=["--exclusive", *filter(None, query.get("directives", "").split(";"))],
        job_script_prologue=[f"export {NO_PROFILER}"],
        worker_extra_args=["--resources", f"{RESOURCE}=1", "--no-dashboard", "--dashboard-address", PAGES])
    await cluster

    async def end():
        with contextlib.suppress(AssertionError):  # of a job that sbatch refused
            await cluster.close()

    stack.push_async_callback(end)
    for _ in range(int(jobs)):  # as scale() does, which leaves what sbatch refuses to the log
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster  # until all are submitted
    except RuntimeError as error:
        raise Gone(f"--on slurm: sbatch refused a job: {refusal_of(error)}") from None
    return cluster


def refusal_of(error):
    """What sbatch said, of dask_jobqueue's text with command, output and standard error."""
    said = str(error).partition("stderr:")[2].strip()
    return (said or str(error)).splitlines()[0]


def free_port():
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]
