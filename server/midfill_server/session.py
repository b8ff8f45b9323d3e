"""Everything that is kept for one client, made once and handed to the features."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from midfill_server.client_facts import ClientFacts
from midfill_server.completer import Completer, client_name
from midfill_server.context import Neighbours
from midfill_server.documents import DocumentStore
from midfill_server.engine_link import EngineDoor, EngineLink
from midfill_server.exclusions import why_off_in
from midfill_server.folder_settings import FolderSettings
from midfill_server.notebooks import Notebooks
from midfill_server.ondemand.desk import Desk
from midfill_server.scheduler import Scheduler
from midfill_server.settings import SettingsStore
from midfill_server.statistics import Statistics
from midfill_server.status import Status, StatusLine
from midfill_server.suggestions import SuggestionCache

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Session:
    """One client's documents, settings, engine and suggestions."""

    facts: ClientFacts
    documents: DocumentStore
    notebooks: Notebooks
    settings: SettingsStore
    settings_for: FolderSettings
    engine: EngineLink
    completer: Completer
    desk: Desk
    status: StatusLine
    statistics: Statistics


def make_session(
    facts: ClientFacts,
    door: EngineDoor,
    tell: Callable[[Status], None],
    statistics_path: Callable[[], Path] | None = None,
) -> Session:
    """A session for a client that has just said hello. Without a path its statistics end with it."""
    settings = SettingsStore(facts.options, logger.warning)
    settings_for = FolderSettings(settings, facts.folders, facts.is_trusted, logger.warning)
    documents = DocumentStore()
    status = StatusLine(tell)
    engine = EngineLink(door, settings.current.engine_options, status.show_engine)
    neighbours = Neighbours(
        documents=documents, why_off=lambda document: why_off_in(document, settings_for(document.uri))
    )
    completer = Completer(
        documents=documents,
        engine=engine,
        scheduler=Scheduler(),
        suggestions=SuggestionCache(),
        status=status,
        encoding=facts.encoding,
        settings=settings_for,
        neighbours=neighbours,
        client=client_name(),
    )
    completer.scheduler.on_begin = completer.flights.stop_ahead  # what nobody has asked for makes way
    desk = Desk(
        documents=documents,
        engine=engine,
        scheduler=completer.scheduler,
        settings=completer.settings,
        neighbours=neighbours,
        encoding=facts.encoding,
        client=completer.client,
        is_outdated=completer.arrivals.is_outdated,
    )
    statistics = Statistics(completer.tally, documents.lines_of, lambda: settings.current.statistics, statistics_path)
    return Session(
        facts=facts,
        documents=documents,
        notebooks=Notebooks(documents),
        settings=settings,
        settings_for=settings_for,
        engine=engine,
        completer=completer,
        desk=desk,
        status=status,
        statistics=statistics,
    )
