"""Finding an engine or starting one: everything that may lie in the way heals by itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from midfill_engine.api import EngineOptions, EngineState, EngineStatus, EngineUnavailable
from midfill_engine.service import fleet, launch, process
from midfill_engine.service import record as records
from midfill_engine.service.alive import is_alive, own_start
from midfill_engine.service.places import Identity, Places, canonical, places_of, private_directory
from midfill_engine.service.record import Address, Record
from support.scripted import PATIENCE_S
from support.scripted_process import scripted_command, scripted_request

from .conftest import Connect

STARTER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from midfill_engine import wire
from midfill_engine.api import EngineOptions
from midfill_engine.service.launch import find_or_start
from support.scripted_process import scripted_command
print("ready", flush=True)
sys.stdin.readline()
options = wire.parse(sys.argv[2], EngineOptions)
print(find_or_start(options, scripted_command(starts=Path(sys.argv[3]))).pid)
"""


def test_six_programs_that_start_at_once_get_one_process(options: EngineOptions, tmp_path: Path) -> None:
    starts, tests = tmp_path / "starts", str(Path(__file__).parents[2])
    arguments = [sys.executable, "-c", STARTER, tests, launch.usual_command(options)[-1], str(starts)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    programs = [subprocess.Popen(arguments, **pipes) for _ in range(6)]
    for program in programs:
        assert program.stdout.readline() == "ready\n"
    for program in programs:
        program.stdin.write("go\n")
        program.stdin.flush()
    pids = {program.communicate(timeout=PATIENCE_S)[0].strip() for program in programs}
    assert pids == set(starts.read_text().split())
    assert len(pids) == 1


async def test_a_process_started_past_the_lock_leaves_the_place_to_its_owner(
    connect: Connect, options: EngineOptions
) -> None:
    """By hand, say: it says that an engine is there, and ends."""
    engine = connect()
    await engine.fill(scripted_request())
    second = await asyncio.create_subprocess_exec(*scripted_command()(options), stdout=subprocess.PIPE)
    out, _ = await second.communicate()
    assert (second.returncode, json.loads(out)) == (0, {"ready": True})
    assert second.pid != (await engine.status()).pid
    assert (await engine.fill(scripted_request("same"))).text == "same"


async def test_twenty_requests_of_one_client_start_one_process(connect: Connect, tmp_path: Path) -> None:
    engine = connect(scripted_command(starts=tmp_path / "starts"))
    await asyncio.gather(*(engine.fill(scripted_request(num_steps=1)) for _ in range(20)))
    assert len((tmp_path / "starts").read_text().split()) == 1


def leave_stale_socket(places: Places) -> None:
    """What a killed engine leaves: a socket file that nobody listens on and the record of a process that is gone."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(places.socket))
    leave_record(places, pid=2**22 + 1)


def leave_record(places: Places, pid: int, **address: object) -> None:
    fields = {"version": "0", "preset": "scripted", "device": "auto", "started": 1.0}
    address_of = Address(**({"socket": str(places.socket)} | address))  # type: ignore[arg-type]
    records.write(places.record, Record(pid=pid, address=address_of, **fields))  # type: ignore[arg-type]


def leave_half_a_record(places: Places) -> None:
    leave_record(places, pid=1)
    places.record.write_bytes(places.record.read_bytes()[:40])


def leave_a_lock_file(places: Places) -> None:
    """The files of locks whose holders died: the system has released them, the files are still there."""
    places.start_lock.write_text("12345")
    places.owner_lock.write_text("12345")


def leave_a_used_pid(places: Places) -> None:
    """The id of the engine that ended is now somebody else's: here, this test's."""
    leave_record(places, pid=os.getpid())


def leave_a_port(places: Places) -> None:
    """A record of a port that nobody listens on now."""
    leave_record(places, pid=1, socket="", port=1, token="x")


def leave_bytes(places: Places) -> None:
    """A record that is not even text."""
    places.record.write_bytes(b"\xff\xfe{")


LEFT_BEHIND = [
    leave_stale_socket,
    leave_half_a_record,
    leave_a_lock_file,
    leave_a_used_pid,
    leave_a_port,
    leave_bytes,
]


@pytest.mark.parametrize("leave", LEFT_BEHIND)
async def test_what_a_dead_engine_left_is_in_nobodys_way(connect: Connect, options: EngineOptions, leave) -> None:  # type: ignore[no-untyped-def]
    leave(places_of(options))
    assert (await connect().fill(scripted_request("there"))).text == "there"


@pytest.mark.parametrize("leave", LEFT_BEHIND)
async def test_what_a_dead_engine_left_is_not_listed_and_not_stopped(options: EngineOptions, leave) -> None:  # type: ignore[no-untyped-def]
    places = places_of(options)
    leave(places)
    assert await fleet.statuses(options) == ()
    assert await fleet.stop(options, every=True) == 0
    assert not places.record.exists()


async def test_a_record_that_was_damaged_while_the_engine_ran_is_written_again(
    connect: Connect, options: EngineOptions
) -> None:
    engine = connect()
    await engine.fill(scripted_request())
    pid, places = (await engine.status()).pid, places_of(options)
    places.record.write_bytes(b"{")
    assert (await connect().fill(scripted_request("found"))).text == "found"
    assert (await engine.status()).pid == pid


async def test_an_engine_whose_socket_was_removed_makes_way_for_another(
    connect: Connect, options: EngineOptions
) -> None:
    """A cleaner of temporary files once took the socket of an engine that held the GPU and could not be reached."""
    engine = connect()
    await engine.fill(scripted_request())
    pid = (await engine.status()).pid
    places_of(options).socket.unlink()
    assert (await engine.fill(scripted_request("new"))).text == "new"
    assert (await engine.status()).pid != pid


async def test_an_engine_that_hangs_is_told_and_can_be_stopped(connect: Connect, options: EngineOptions) -> None:
    await connect().fill(scripted_request())
    (status,) = await fleet.statuses(options)
    os.kill(status.pid, signal.SIGSTOP)
    (silent,) = await fleet.statuses(options, patience_s=0.2)
    assert (silent.state, silent.pid) == (EngineState.FAILED, status.pid)
    assert await fleet.stop(options, patience_s=0.5) == 1
    assert await fleet.statuses(options) == ()


def test_a_lock_that_is_never_released_is_told(options: EngineOptions) -> None:
    with FileLock(places_of(options).start_lock), pytest.raises(EngineUnavailable, match="another program"):
        launch.find_or_start(options, scripted_command(), patience_s=0.1)


async def test_a_client_of_another_version_does_not_use_this_engine(connect: Connect, options: EngineOptions) -> None:
    await connect().fill(scripted_request())
    old = Identity(preset="scripted", device="auto", version="0.0.1")
    assert old.name != Identity(preset="scripted", device="auto").name
    assert not replace(places_of(options), name=old.name).record.exists()


async def test_another_device_is_another_engine(connect: Connect, options: EngineOptions) -> None:
    await connect().fill(scripted_request())
    await connect(None, replace(options, device="cpu")).fill(scripted_request())
    assert len({status.pid for status in await fleet.statuses(options)}) == 2
    assert await fleet.stop(options, every=True) == 2


async def test_only_the_user_can_reach_the_files(connect: Connect, options: EngineOptions) -> None:
    await connect().fill(scripted_request())
    places = places_of(options)
    for path, expected in ((places.directory, 0o700), (places.socket, 0o600), (places.record, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == expected, path
    assert stat.S_IMODE(places.log_directory.stat().st_mode) == 0o700


def test_a_directory_that_others_can_enter_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "open"
    path.mkdir(mode=0o755)
    path.chmod(0o755)
    assert stat.S_IMODE(private_directory(path).stat().st_mode) == 0o700


def test_a_link_and_a_file_are_refused_as_directories(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    for name in ("link", "file", "file/below"):
        with pytest.raises(EngineUnavailable, match="directory"):
            private_directory(tmp_path / name)


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = Path("/usr")  # root's, unless we are root
    if os.geteuid() == 0:
        path = tmp_path / "theirs"
        path.mkdir(mode=0o700)
        os.chown(path, 12345, 12345)
    with pytest.raises(EngineUnavailable, match="not a directory of this user"):
        private_directory(path)


@pytest.mark.parametrize("letter", ["d", "ü"])
async def test_a_long_runtime_directory_gets_a_short_socket(
    connect: Connect, options: EngineOptions, tmp_path: Path, letter: str
) -> None:
    deep = tmp_path / (letter * 60) / (letter * 60)
    deep.mkdir(parents=True)
    far = replace(options, runtime_dir=deep)
    assert (await connect(None, far).fill(scripted_request("deep"))).text == "deep"
    places = places_of(far)
    assert places.directory not in places.socket.parents
    assert places.socket.exists()
    assert places.socket != places_of(replace(far, device="cpu")).socket
    assert await fleet.stop(far) == 1
    assert not places.socket.exists()


@pytest.mark.parametrize(
    ("state", "idle_s", "expected"),
    [
        (EngineState.READY, 99.0, False),
        (EngineState.READY, 100.0, True),
        (EngineState.BUSY, 1000.0, False),
        (EngineState.LOADING, 1000.0, False),
        (EngineState.FAILED, 29.0, False),
        (EngineState.FAILED, 30.0, True),
    ],
)
def test_when_an_engine_ends(state: EngineState, idle_s: float, expected: bool) -> None:
    assert process.is_over(EngineStatus(state=state, preset="p", idle_s=idle_s), 100.0) is expected


def test_a_folder_is_the_same_preset_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert canonical(EngineOptions(preset="./model")).preset == str(tmp_path / "model")
    (tmp_path / "pocket").mkdir()
    assert canonical(EngineOptions(preset="model")).preset == str(tmp_path / "model")
    assert canonical(EngineOptions(preset="pocket")).preset == "pocket"
    assert canonical(EngineOptions(preset="unknown")).preset == "unknown"
    assert canonical(EngineOptions(preset="./unknown")).preset == str(tmp_path / "unknown")
    assert canonical(EngineOptions(runtime_dir=Path("run"))).runtime_dir == tmp_path / "run"


def test_the_usual_command_carries_the_options(options: EngineOptions) -> None:
    *head, last = launch.usual_command(options)
    assert head == [sys.executable, "-P", "-m", "midfill_engine.service"]
    assert json.loads(last)["preset"] == "scripted"


def test_this_process_is_alive_and_a_later_one_with_its_id_is_not() -> None:
    assert is_alive(os.getpid(), own_start())
    assert not is_alive(os.getpid(), own_start() - 60.0)
    assert not is_alive(2**22 + 1, own_start())


async def test_a_record_is_written_whole_under_many_readers(options: EngineOptions) -> None:
    """A reader sees the old record or the new one, never a part."""
    places = places_of(options)
    leave_record(places, pid=1)

    def write_many() -> None:
        for pid in range(1, 200):
            leave_record(places, pid=pid)

    writing = asyncio.create_task(asyncio.to_thread(write_many))
    while not writing.done():
        assert records.read(places.record) is not None
        await asyncio.sleep(0)
    await writing
