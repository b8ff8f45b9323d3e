"""The way of systems without private Unix sockets: a port of the loopback interface and a token."""

from __future__ import annotations

import http.server
import os
import signal
import stat
import threading
from dataclasses import replace
from http.client import HTTPConnection

from midfill_engine.api import EngineOptions, Finish
from midfill_engine.service import fleet
from midfill_engine.service import record as records
from midfill_engine.service.places import places_of
from midfill_engine.service.record import Record
from midfill_engine.service.transport import LOOPBACK
from support.scripted import PATIENCE_S
from support.scripted_process import scripted_command, scripted_request

from .conftest import Connect


async def started(connect: Connect, options: EngineOptions) -> Record:
    await connect(scripted_command(is_tcp=True)).fill(scripted_request())
    record = records.read(places_of(options).record)
    assert record is not None
    assert record.address.port
    return record


def ask(record: Record, headers: dict[str, str], method: str = "GET", path: str = "/health") -> int:
    connection = HTTPConnection(LOOPBACK, record.address.port, timeout=PATIENCE_S)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


async def test_clients_share_one_process_by_port_and_token(connect: Connect, options: EngineOptions) -> None:
    record = await started(connect, options)
    engine = connect(scripted_command(is_tcp=True))
    assert (await engine.fill(scripted_request("shared"))).text == "shared"
    assert (await engine.status()).pid == record.pid
    assert stat.S_IMODE(places_of(options).record.stat().st_mode) == 0o600
    assert await fleet.stop(options) == 1
    assert not places_of(options).record.exists()


async def test_a_killed_process_is_replaced_at_another_port(connect: Connect, options: EngineOptions) -> None:
    engine = connect(scripted_command(is_tcp=True))
    await engine.fill(scripted_request())
    os.kill((await engine.status()).pid, signal.SIGKILL)
    assert (await engine.fill(scripted_request())).finish is Finish.COMPLETE


async def test_who_does_not_show_the_token_or_names_another_host_is_refused(
    connect: Connect, options: EngineOptions
) -> None:
    """The second is a web page whose host name was made to mean this machine."""
    record = await started(connect, options)
    right = {"Authorization": f"Bearer {record.address.token}"}
    wrong = {"Authorization": f"Bearer {record.address.token[:-1]}?"}
    strange = {"Authorization": "Bearer \xff"}
    rebound = right | {"Host": f"evil.example:{record.address.port}"}
    no_port = right | {"Host": "127.0.0.1"}
    assert ask(record, right) == 200
    for headers in ({}, wrong, strange, rebound, no_port):
        assert ask(record, headers) == 403, headers
        assert ask(record, headers, "POST", "/v1/stop") == 403, headers
    assert ask(record, right) == 200


class Stranger(http.server.BaseHTTPRequestHandler):
    """A program that got the port of an engine that is no more, and says yes to everything."""

    asked: list[str] = []  # noqa: RUF012 - the handler's class is all that its server lets us reach

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()


async def test_a_stranger_at_the_port_of_a_dead_engine_is_told_nothing(
    connect: Connect, options: EngineOptions
) -> None:
    record = await started(connect, options)
    await fleet.stop(options)
    with http.server.HTTPServer((LOOPBACK, 0), Stranger) as stranger:
        thread = threading.Thread(target=stranger.serve_forever)
        thread.start()
        address = replace(record.address, port=stranger.server_address[1])
        records.write(places_of(options).record, replace(record, address=address))
        try:
            assert (await connect(scripted_command(is_tcp=True)).fill(scripted_request("safe"))).text == "safe"
        finally:
            stranger.shutdown()
            thread.join()
    assert Stranger.asked == []


async def test_the_wrong_token_of_a_live_engine_gets_no_answer(connect: Connect, options: EngineOptions) -> None:
    """A record that was tampered with: the engine writes its own again, and the client finds it."""
    record = await started(connect, options)
    address = replace(record.address, token="wrong")
    records.write(places_of(options).record, replace(record, address=address))
    assert (await connect(scripted_command(is_tcp=True)).fill(scripted_request("found"))).text == "found"
