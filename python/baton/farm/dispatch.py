"""Which job goes to which machine, and what becomes of it when the machine is lost."""
import asyncio
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import time
import uuid

import cloudpickle
from distributed import get_worker

from farm import on_worker
from farm.places import RESOURCE, Gone

AHEAD = 2          # jobs at a worker: one is measured, one waits there
AHEAD_BYTES = 1 << 20  # larger bundles travel while nothing is measured: receiving them would disturb it
LOOK_S = 0.25      # between two looks at the scheduler
SILENT_S = 10      # after which a scheduler that does not answer is gone
MOST_TRIES = 3     # of a job whose workers are lost
LOST = ("KilledWorker", "CommClosedError", "ClosedClientError")  # what a lost worker or scheduler raises


def there(method):
    """A method of the WorkerSide of a name, called in a worker. A lambda, which is sent by value, as workers have no module `farm`; a
    small one, as it is sent with every job."""
    return lambda name, *arguments: getattr(get_worker().plugins[name], method)(*arguments)


class Machine:
    """One worker of distributed, with the runner's greeting."""

    def __init__(self, address, greeting, bundles):
        self.address, self.greeting, self.bundles = address, greeting, bundles
        self.lost = asyncio.Event()
        self.busy = 0

    @property
    def name(self):
        return self.greeting["machine"]

    def believed(self, answer):
        """The runner's answer, as long as it is of this machine by its own words."""
        named = answer.get("machine") or self.name
        if named == self.name:
            return answer
        return {"error": f"not believed: the runner on {self.name} says that it is of {named}", "machine": self.name,
                "sheet": self.greeting["sheet"]}

    def why_not(self, job):
        """Why it cannot run the job; "" if it can."""
        if job.machine and job.machine != self.name:
            return f"the job is for {job.machine}"
        missing = missing_features(job.code_target, self.greeting["code_target"])
        if missing:
            return f"its processor lacks {', '.join(missing)}"
        plugins = [name for name in job.plugins if name not in self.greeting["plugins"]]
        return f"it lacks the plug-ins {', '.join(plugins)}" if plugins else ""


class Job:
    def __init__(self, line):
        self.json = json.loads(line)
        self.id, self.folder = self.json["id"], self.json["bundle"]
        self.machine = self.json.get("machine", "")
        with open(os.path.join(self.folder, "manifest.json"), "rb") as file:
            manifest = file.read()
        about = json.loads(manifest)
        self.digest = hashlib.sha256(manifest).hexdigest()
        self.code_target, self.plugins = about.get("code_target", ""), about.get("plugins", [])
        self.bytes = sum(file["bytes"] for file in about.get("files", {}).values())
        self.tries, self.unfit_since = 0, None

    def files(self):
        found = {}
        for entry in os.scandir(self.folder):
            if entry.is_file(follow_symlinks=False):
                with open(entry.path, "rb") as file:
                    found[entry.name] = on_worker.Content(file.read())
        return found


def missing_features(code, machine):
    """The words of a code target that a machine's lacks: "x86-64-linux-avx" on "x86-64-linux". How code is tuned is no need."""
    if not code:
        return []
    here = machine.split("-")
    return [word for word in code.split("-") if word not in here and not word.startswith("tune_")]


class Farm:
    def __init__(self, place, wire, options):
        self._place, self._client, self._address = place, place.client, place.address
        self._wire, self._options = wire, options
        self._side = f"{on_worker.SIDE}{uuid.uuid4().hex}"
        self._greet_there, self._measure_there = there("greet"), there("measure")
        self._machines, self._unusable, self._greeted = {}, {}, set()
        self._looks = 0  # that the scheduler answered
        self._tasks, self._broken = set(), None
        self._bundles = collections.defaultdict(set)  # by machine and folder of its cache: what was sent there
        self._jobs = collections.deque()
        self._wake = asyncio.Condition()
        self._ended = False
        self._told = None

    async def run(self):
        cloudpickle.register_pickle_by_value(on_worker)
        flags = ["--wait", f"{self._options.wait:g}"] + (["--under-load"] if self._options.under_load else [])
        keys = ""
        if self._options.trusted_keys:
            with open(self._options.trusted_keys, encoding="utf-8") as file:
                keys = file.read()
        plugin = on_worker.WorkerSide(self._side, self._place.runner or self._options.runner, flags, keys)
        await self._client.register_plugin(plugin, name=self._side)
        loop = asyncio.get_running_loop()

        def hear(line):
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._hear, line)

        self._wire.listen(hear)
        try:
            await self._look()
        finally:
            self._ended = True
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            # Ends the runners. Workers that cannot be told end them when the next farm comes.
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.unregister_worker_plugin(self._side), 1)

    def _start(self, coroutine):
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task):
        self._tasks.discard(task)
        if not task.cancelled() and task.exception():
            self._broken = task.exception()

    def _hear(self, line):
        if line is None:
            self._ended = True
        else:
            try:
                self._jobs.append(Job(line))
            except (OSError, ValueError, KeyError, TypeError) as error:
                id_ = ""
                try:
                    id_ = json.loads(line)["id"]
                except (ValueError, KeyError, TypeError):
                    pass
                self._wire.say({"id": id_, "refused": True, "rows": [],
                                "error": f"the bundle of the job cannot be read: {error}"})
        self._start(self._wake_all())

    async def _wake_all(self):
        async with self._wake:
            self._wake.notify_all()

    async def _look(self):
        """Until standard input ends: which workers there are."""
        answered = began = time.monotonic()
        scheduler = None
        while not self._ended:
            if self._broken:
                raise self._broken
            try:
                identity = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), SILENT_S)
                answered, workers = time.monotonic(), identity["workers"]
                if scheduler not in (None, identity["id"]):
                    raise Gone(f"the scheduler at {self._address} is another one than before; what was measured is kept: the same "
                               "command measures the rest")
                scheduler = identity["id"]
                self._looks += 1
            except (OSError, TimeoutError, asyncio.TimeoutError, RuntimeError) as error:
                if self._client.status in ("closed", "closing") or time.monotonic() - answered >= SILENT_S:
                    raise Gone(f"the scheduler at {self._address} is gone ({type(error).__name__}); what was measured is "
                               "kept: start it again, and the same command measures the rest") from None
                await asyncio.sleep(LOOK_S)
                continue
            for address, about in workers.items():
                if address not in self._greeted and about.get("status", "running") == "running":
                    self._greeted.add(address)
                    self._start(self._greet(address, about))
            for address in self._greeted - set(workers):
                self._greeted.discard(address)
                self._unusable.pop(address, None)
            for address in [address for address in self._machines if address not in workers]:
                self._machines.pop(address).lost.set()
                self._tell()
                await self._wake_all()
            if self._machines:
                began = time.monotonic()
            elif time.monotonic() - began >= self._options.worker_wait or self._place.none_comes():
                raise Gone(self._why_no_machine(time.monotonic() - began))
            self._drop_unfit()
            await asyncio.sleep(LOOK_S)

    def _why_no_machine(self, waited):
        said = "".join(f"; {address}: {why}" for address, why in self._unusable.items())
        return (f"no machine came to the scheduler at {self._address} in {waited:.0f} s{said}. {self._place.advice(self._address)}; "
                "what was measured is kept")

    async def _greet(self, address, about):
        if about.get("resources", {}).get(RESOURCE, 0) < 1:
            self._unusable[address] = f"it was started without `--resources {RESOURCE}=1`, so it may be given several jobs at once"
            return
        self._unusable[address] = "it does not answer: it measures for somebody else, or hangs"
        try:
            future = self._client.submit(self._greet_there, self._side, workers=[address], allow_other_workers=False, pure=False,
                                         resources={RESOURCE: 1})
            answer = await asyncio.wait_for(future, 120)
        except Exception as error:  # pylint: disable=broad-exception-caught  # whatever a worker's Python raises
            self._unusable[address] = f"{type(error).__name__}: {error}"
            await asyncio.sleep(1)
            self._greeted.discard(address)  # it is asked again, unless it is lost
            return
        if "error" in answer:
            self._unusable[address] = answer["error"]
            return
        self._unusable.pop(address, None)
        bundles = self._bundles[about.get("host", address), answer["cache"]]
        bundles.update(answer["held"])
        machine = self._machines[address] = Machine(address, answer["greeting"], bundles)
        for _ in range(AHEAD):
            self._start(self._serve(machine))
        self._tell()

    def _tell(self):
        """The C++ side knows the machines."""
        machines = [machine.greeting for machine in self._machines.values()]
        if machines != self._told:
            self._told = machines
            self._wire.say({"machines": machines})

    def _drop_unfit(self):
        """Jobs that no machine can run are answered, after the time that machines are waited for."""
        now = time.monotonic()
        for job in list(self._jobs):
            why = {machine.name: machine.why_not(job) for machine in self._machines.values()}
            if not why or "" in why.values():
                job.unfit_since = None
                continue
            job.unfit_since = job.unfit_since or now
            if now - job.unfit_since >= min(5, self._options.worker_wait):
                self._jobs.remove(job)
                self._answer(job, {"error": "no machine of the farm can run it: " +
                                            "; ".join(f"{name}: {text}" for name, text in why.items())})

    def _answer(self, job, result):
        self._wire.say({"id": job.id, "rows": [], **result})

    async def _take(self, machine):
        """The first job for this machine, None once it is lost. A second one only where it does not disturb the first."""
        async with self._wake:
            while not machine.lost.is_set():
                for job in self._jobs:
                    sent = job.digest in machine.bundles
                    if machine.why_not(job) or (machine.busy and not sent and job.bytes > AHEAD_BYTES):
                        continue
                    self._jobs.remove(job)
                    machine.busy += 1
                    return job
                await self._wake.wait()
        return None

    async def _serve(self, machine):
        while (job := await self._take(machine)) is not None:
            try:
                answer = await self._measure(machine, job)
            finally:
                machine.busy -= 1
            if answer is None:
                # Whether the worker or the scheduler is lost; without a scheduler it is no job's fault, and _look ends all.
                looks = self._looks
                while self._looks < looks + 2:
                    await asyncio.sleep(LOOK_S)
            if answer is None or answer.get("retry"):
                job.tries += 1
                if job.tries < MOST_TRIES:
                    self._jobs.appendleft(job)
                    await self._wake_all()
                    continue
                answer = answer or {"error": f"{job.tries} workers were lost while they had this job, the last was {machine.name}",
                                    "retry": True}
            self._answer(job, answer)
            await self._wake_all()

    async def _measure(self, machine, job):
        """The runner's answer; None when the worker was lost."""
        send = job.digest not in machine.bundles
        while True:
            try:
                files = job.files() if send else None
            except OSError as error:
                return {"error": f"the bundle of the job cannot be read: {error}"}
            if send:
                machine.bundles.add(job.digest)
            answer = await self._ask(machine, job, files)
            if answer is None or "need" not in answer:
                return answer
            if send:
                return {"error": f"{machine.name} cannot keep the bundle: see the folder of its cache, BATON_BUNDLE_CACHE"}
            send = True

    async def _ask(self, machine, job, files):
        """The runner's answer, {"need": True}, or None when the worker was lost."""
        lost = asyncio.ensure_future(machine.lost.wait())
        result = None
        try:
            future = self._client.submit(self._measure_there, self._side, job.json, job.digest, files, workers=[machine.address],
                                         allow_other_workers=False, key=f"{self._side}-{uuid.uuid4().hex}", pure=False, retries=0,
                                         resources={RESOURCE: 1})
            result = asyncio.ensure_future(future.result())
            await asyncio.wait({lost, result}, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                await asyncio.wait_for(future.cancel(force=True), 5)
                return None
            answer = result.result()
            return answer if "need" in answer else machine.believed(answer["answer"])
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            if self._ended:
                raise
            return None  # cancelled by the scheduler: it lost the worker, or ends
        except Exception as error:  # pylint: disable=broad-exception-caught  # whatever a worker's Python raises
            if machine.lost.is_set() or type(error).__name__ in LOST:
                return None
            return {"error": f"the worker on {machine.name} failed: {type(error).__name__}: {error}"}
        finally:
            lost.cancel()
            if result:
                result.cancel()


async def run(options, wire, places):
    async with places.open_place(options) as place:
        await Farm(place, wire, options).run()
