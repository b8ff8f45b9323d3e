"""The corpus: which files of which packages, split into train, dev and held out, as one file of JSON lines.

    packages ──clean, deduplicate, cap──> Corpus ──write──> corpus.jsonl or corpus.jsonl.xz (text only)

Line 1 of the file lists the sources; every other line is one text file. Whole packages are held out, and a file that
repeats many lines of a held-out package is dropped from the rest, so that the measurements mean something.
"""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from midfill_engine.train.cleaning import clean, fingerprint, telling_lines
from midfill_engine.train.sources import Package, is_allowed

HELD_OUT = frozenset({"flask", "rich", "networkx", "attrs", "httpx", "tqdm"})
NEVER = frozenset({"transformers"})  # read only to recognise copies of it: a benchmark is made of it
TEST_PATH = re.compile(r"(^|/)(tests?|testing|_tests|test_[^/]*|conftest)(/|\.py$)|_test\.py$")

CleanMany = Callable[[list[bytes]], Iterable[str | None]]


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """What is kept. Sizes in characters."""

    package_cap: int = 6_000_000
    test_share: float = 0.3  # of a package, at most
    dev_share: float = 0.005  # of the files
    max_copied: float = 0.3  # share of a file's telling lines that may stand in a held-out package
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("test_share", "dev_share", "max_copied"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, not {value}")
        if self.package_cap < 1:
            raise ValueError(f"package_cap must be positive, not {self.package_cap}")


@dataclass(frozen=True, kw_only=True)
class File:
    """One text of the corpus."""

    path: str
    text: str
    split: str  # train, dev or heldout


@dataclass(kw_only=True)
class Corpus:
    """The files and a row of particulars for each package."""

    files: list[File] = field(default_factory=list)
    sources: list[dict[str, str]] = field(default_factory=list)


def collect(packages: Iterable[Package], settings: CorpusSettings, clean_many: CleanMany | None = None) -> Corpus:
    """Clean, deduplicate, cap and split. Held-out packages are taken first, so that duplicates fall to them."""
    rng = random.Random(settings.seed)
    builder = _Builder(settings, rng, clean_many or (lambda raws: map(clean, raws)))
    for package in sorted(packages, key=lambda package: package.name not in HELD_OUT | NEVER):
        builder.add(package)
    return builder.corpus


class _Builder:
    def __init__(self, settings: CorpusSettings, rng: random.Random, clean_many: CleanMany) -> None:
        self.settings, self.rng, self.clean_many = settings, rng, clean_many
        self.corpus = Corpus()
        self.seen: set[bytes] = set()
        self.held_lines: set[str] = set()

    def add(self, package: Package) -> None:
        held = package.name in HELD_OUT | NEVER
        if not held and not is_allowed(package.licence):
            self._record(package, "refused", [])
            return
        files = [file for file in package.files if not (held and TEST_PATH.search(file[0]))]
        self.rng.shuffle(files)
        kept = self._keep(files, held)
        if package.name in NEVER:
            self._record(package, "never", [])
            return
        for path, text in kept:
            split = "heldout" if held else "dev" if self.rng.random() < self.settings.dev_share else "train"
            self.corpus.files.append(File(path=path, text=text, split=split))
        self._record(package, "heldout" if held else "train", kept)

    def _keep(self, files: list[tuple[str, bytes]], held: bool) -> list[tuple[str, str]]:
        kept: list[tuple[str, str]] = []
        size = test_size = 0
        cap = self.settings.package_cap * (10 if held else 1)
        for path, text in self._clean(files):
            is_test = bool(TEST_PATH.search(path))
            if size > cap or (is_test and test_size > self.settings.test_share * max(size, 300_000)):
                continue
            if not self._is_new(text, held):
                continue
            size += len(text)
            test_size += len(text) * is_test
            kept.append((path, text))
        return kept

    def _clean(self, files: list[tuple[str, bytes]]) -> Iterator[tuple[str, str]]:
        texts = self.clean_many([raw for _, raw in files])
        for (path, _), text in zip(files, texts, strict=True):
            if text is not None:
                yield path, text

    def _is_new(self, text: str, held: bool) -> bool:
        key = fingerprint(text)
        if key in self.seen:
            return False
        self.seen.add(key)
        lines = telling_lines(text)
        if held:
            self.held_lines.update(lines)
            return True
        copied = sum(line in self.held_lines for line in lines)
        return copied <= self.settings.max_copied * max(len(lines), 1)

    def _record(self, package: Package, split: str, kept: list[tuple[str, str]]) -> None:
        megabytes = sum(len(text) for _, text in kept) / 1e6
        self.corpus.sources.append(
            {
                "name": package.name,
                "version": package.version,
                "licence": package.licence,
                "split": split,
                "files": str(len(kept)),
                "MB": f"{megabytes:.2f}",
            }
        )


def write_corpus(corpus: Corpus, path: Path) -> None:
    """One file of JSON lines, compressed where its name ends in .xz, in an order that lets a prefix stand for all."""
    order = list(range(len(corpus.files)))
    random.Random(0).shuffle(order)
    with _open(path, "wt") as stream:
        stream.write(json.dumps({"sources": corpus.sources}) + "\n")
        for index in order:
            file = corpus.files[index]
            stream.write(json.dumps([file.split, file.path, file.text], ensure_ascii=False) + "\n")


def read_corpus(path: Path, share: float = 1.0) -> Corpus:
    """The corpus of `write_corpus`; `share` below 1 keeps that share of the training files (for trials)."""
    corpus = Corpus()
    rng = random.Random(1)
    with _open(path, "rt") as stream:
        corpus.sources = json.loads(stream.readline())["sources"]
        for line in stream:
            split, name, text = json.loads(line)
            if split != "train" or rng.random() < share:
                corpus.files.append(File(path=name, text=text, split=split))
    return corpus


def write_sources(corpus: Corpus, path: Path) -> None:
    """The SOURCES list: one tab-separated row a package."""
    columns = ("name", "version", "licence", "split", "files", "MB")
    rows = ["\t".join(row[column] for column in columns) for row in corpus.sources]
    path.write_text("\n".join(["\t".join(columns), *rows]) + "\n", encoding="utf-8")


def _open(path: Path, mode: str) -> IO[str]:
    if path.suffix == ".xz":
        stream = lzma.open(path, mode, encoding="utf-8", preset=6 if "w" in mode else None)  # noqa: SIM115
        return cast(IO[str], stream)
    return path.open(mode, encoding="utf-8")
