"""Where a farm's workers are: an existing scheduler, machines reached by ssh, or jobs of Slurm."""
import asyncio
import contextlib
import os
import shlex
import socket
import sys
import urllib.parse

from distributed import Client, Scheduler
from distributed.security import Security

RESOURCE = "machine"  # one token per worker: distributed never gives one machine two jobs
LOOPBACK = "127.0.0.1"


class Gone(Exception):
    """The farm cannot go on; the text says why and what to do."""


def security_of(options):
    if not (options.tls_ca_file or options.tls_cert or options.tls_key):
        return None
    given = {"tls_ca_file": options.tls_ca_file or None, "require_encryption": True}
    for role in ("client", "scheduler", "worker"):
        given[f"tls_{role}_cert"] = options.tls_cert or None
        given[f"tls_{role}_key"] = options.tls_key or None
    return Security(**given)


@contextlib.asynccontextmanager
async def open_place(options):
    """A client of the scheduler that `options.on` names, and the address to show; what was started for it ends with it."""
    async with contextlib.AsyncExitStack() as stack:
        security = security_of(options)
        kind, rest = split(options.on)
        if kind == "dask":
            address = ("tls://" if security else "tcp://") + rest
            yield await connect(stack, address, security), address
        elif kind == "ssh":
            scheduler = await start_scheduler(stack, security, LOOPBACK)
            hosts, query = rest
            for host in hosts:
                await start_by_ssh(stack, scheduler, host, query, options)
            yield await connect(stack, scheduler.address, security), scheduler.address
        else:
            cluster = await start_slurm(stack, rest, options, security)
            yield await connect(stack, cluster.scheduler_address, security), cluster.scheduler_address


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
    # No dashboard: nobody asked for a server of pages.
    return await stack.enter_async_context(Scheduler(host=host, port=0, dashboard=False, security=security))


async def start_by_ssh(stack, scheduler, host, query, options):
    """One worker through the system's ssh. Both sides stay on loopback: ssh carries their connections."""
    port = scheduler.port
    own = free_port()
    name, _, ssh_port = host.partition(":")
    worker = [query.get("python", "python3"), "-m", "distributed.cli.dask_worker", f"{scheduler.address.split(':')[0]}://{LOOPBACK}:{port}",
              "--host", LOOPBACK, "--worker-port", str(own), *worker_flags(options), "--name", host, "--death-timeout", "60"]
    command = ["ssh", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-o", "ServerAliveInterval=15",
               *(["-p", ssh_port] if ssh_port else []), "-R", f"{port}:{LOOPBACK}:{port}", "-L", f"{own}:{LOOPBACK}:{own}", name,
               "exec " + " ".join(map(shlex.quote, worker))]
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr,
                                                       start_new_session=True)
    except OSError as error:
        raise Gone(f"ssh cannot be started: {error}") from None
    tell = asyncio.create_task(tell_end(process, host))

    async def end():
        tell.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), 5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)

    stack.push_async_callback(end)


async def tell_end(process, host):
    status = await process.wait()
    print(f"farm: ssh to {host} ended with status {status}", file=sys.stderr)


def worker_flags(options):
    flags = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--resources", f"{RESOURCE}=1"]
    for flag, value in (("--tls-ca-file", options.tls_ca_file), ("--tls-cert", options.tls_cert), ("--tls-key", options.tls_key)):
        flags += [flag, value] if value else []
    return flags


async def start_slurm(stack, query, options, security):
    from dask_jobqueue import SLURMCluster

    network = {"interface": query["interface"]} if "interface" in query else {"host": query.get("host", LOOPBACK)}
    cluster = SLURMCluster(
        asynchronous=True, cores=1, processes=1, memory=query.get("memory", "2GB"), nanny=False,
        python=query.get("python", sys.executable), queue=query.get("queue"), account=query.get("account"),
        walltime=query.get("walltime", "01:00:00"), interface=query.get("interface"), security=security,
        scheduler_options={**network, "dashboard": False},
        # A machine is measured on alone.
        job_extra_directives=["--exclusive", *filter(None, query.get("directives", "").split(";"))],
        worker_extra_args=["--resources", f"{RESOURCE}=1", "--no-dashboard"])
    cluster = await stack.enter_async_context(cluster)
    cluster.scale(jobs=int(query.get("jobs", 1)))
    return cluster


def free_port():
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]
