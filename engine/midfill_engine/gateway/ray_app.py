"""The gateway as a Ray Serve application: several models, on one machine or many, behind one door.

    clients ── HTTP ──> Front (the gateway's ASGI application) ── by document ──> Replica, Replica, ... (a model each)

    serve run midfill_engine.gateway.ray_app:build preset=pocket replicas=2

A document's requests go to the replica that has its text in its cache, as long as that one has room (Ray calls such a
key a multiplexed model's id). A fill whose replica dies is asked of another: the same request with the same seed is the
same fill, so nothing is lost by that. When all replicas and their queue are full, the client is told to come again.
Ray watches the replicas' health and replaces those that fail; a new `serve run` replaces them one by one.
"""

from __future__ import annotations

import hashlib
import logging
import os
from typing import Any

from pydantic import BaseModel, ConfigDict
from ray import serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from midfill_engine import wire
from midfill_engine.api import (
    EngineError,
    EngineOptions,
    EngineState,
    EngineStatus,
    EngineUnavailable,
    FillRequest,
    FillResult,
    OnDraft,
)
from midfill_engine.gateway.app import make_app
from midfill_engine.gateway.command import LEAST_TOKEN, TOKEN_VARIABLE
from midfill_engine.gateway.filling import Busy
from midfill_engine.local import LocalEngine

logger = logging.getLogger(__name__)

REPLICA = "Replica"
FRONT_CPUS = 0.1  # it waits and translates
SPARE = 16  # requests that a front takes beyond those it lets wait, so that it is it who says how busy we are
DOCUMENTS = 256  # that a replica is known for; the oldest is forgotten first
TRIES = 3
START_OF_DOCUMENT = 400  # code points that tell one document from another where nobody names it


class Cluster(BaseModel):
    """What `serve run` may be told, as `name=value`. `ongoing`: fills that a replica takes at a time, one of which
    runs; `queued`: those that wait in front of all. `gpus`: of each replica, a share such as 0.5 too. `public`: clients
    name other hosts than loopback; MIDFILL_TOKEN is then a must."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str = "pocket"
    device: str = "auto"
    replicas: int = 1
    fronts: int = 1
    ongoing: int = 4
    queued: int = 32
    cpus: float = 1.0
    gpus: float = 0.0
    public: bool = False


class Replica:
    """A model in a process of its own; nothing is sent here before it is loaded."""

    async def __init__(self, cluster: Cluster) -> None:  # type: ignore[misc]
        # Ray awaits a constructor.
        self._engine = LocalEngine(EngineOptions(preset=cluster.preset, device=cluster.device))
        await self._engine.load()

    async def fill(self, request: dict[str, Any]) -> dict[str, Any]:
        """On the wire's values. An EngineError comes back as one, not as Ray's account of it."""
        await self.known_document(serve.get_multiplexed_model_id())
        try:
            result = await self._engine.fill(wire.from_wire(request, FillRequest))
        except EngineError as error:
            return {"error": wire.error_to_wire(error)}
        return {"result": wire.to_wire(result), "pid": os.getpid()}

    @serve.multiplexed(max_num_models_per_replica=DOCUMENTS)  # type: ignore[untyped-decorator]
    async def known_document(self, document: str) -> str:
        """Has Ray know that this replica has the document's text in its cache."""
        return document

    async def check_health(self) -> None:
        """Asked by Ray; a replica that raises here is replaced."""
        status = await self._engine.status()
        if status.state is EngineState.FAILED:
            raise EngineUnavailable(status.message)


class RayEngine:
    """The `Engine` Protocol over all replicas."""

    def __init__(self, replicas: DeploymentHandle, preset: str) -> None:
        self._replicas = replicas
        self._preset = preset

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        named = self._replicas.options(multiplexed_model_id=document_of(request))
        value = wire.to_wire(request)
        for number in range(1, TRIES + 1):
            try:
                answer = await named.fill.remote(value)
            except BackPressureError:
                raise Busy("every model is busy and the queue is full; try again in a second") from None
            except (RayActorError, DeploymentUnavailableError) as error:
                logger.warning("a replica was lost (try %d of %d): %s", number, TRIES, type(error).__name__)
                continue
            except RayTaskError as error:
                raise EngineError(f"the fill failed inside a replica ({type(error.cause).__name__})") from None
            if "error" in answer:
                raise wire.error_from_wire(answer["error"])
            return wire.from_wire(answer["result"], FillResult)
        raise EngineUnavailable("no replica has lived through this fill; try again later")

    async def status(self) -> EngineStatus:
        """The front answers, so there is a cluster; each replica's own health is Ray's business."""
        return EngineStatus(state=EngineState.READY, preset=self._preset, message="on Ray Serve")

    async def aclose(self) -> None:
        """Replicas belong to Ray."""


def document_of(request: FillRequest) -> str:
    """A key of the document: as the client names it, or by how it begins, which typing further down leaves alone."""
    named = f"{request.client}\0{request.document}" if request.document else request.prefix[:START_OF_DOCUMENT]
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def build(cluster: Cluster) -> serve.Application:
    """The application. Raises EngineError where it would be open to everybody."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    if cluster.public and len(token) < LEAST_TOKEN:
        raise EngineError(f"public needs a token of {LEAST_TOKEN} characters or more in {TOKEN_VARIABLE}")
    replicas = serve.deployment(
        Replica,
        name=REPLICA,
        num_replicas=cluster.replicas,
        max_ongoing_requests=cluster.ongoing,
        max_queued_requests=cluster.queued,
        health_check_period_s=2.0,
        health_check_timeout_s=10.0,
        graceful_shutdown_timeout_s=20.0,
        ray_actor_options={"num_cpus": cluster.cpus, "num_gpus": cluster.gpus},
    ).bind(cluster)
    most_waiting = cluster.replicas * cluster.ongoing + cluster.queued
    is_loopback = not cluster.public

    def make() -> ASGIApp:
        engine = RayEngine(serve.get_deployment_handle(REPLICA), cluster.preset)
        return make_app(engine, cluster.preset, token=token, is_loopback=is_loopback, most_waiting=most_waiting)

    front = serve.deployment(
        serve.ingress(make)(),
        name="Front",
        num_replicas=cluster.fronts,
        max_ongoing_requests=most_waiting + SPARE,
        ray_actor_options={"num_cpus": FRONT_CPUS},
    )
    return front.bind(replicas)
