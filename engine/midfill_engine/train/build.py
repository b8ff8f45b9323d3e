"""`train data`: from packages (or a corpus file made elsewhere) to a corpus, its SOURCES list and token shards."""

from __future__ import annotations

import platform
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from multiprocessing import Pool
from pathlib import Path

from tokenizers import Tokenizer

from midfill_engine.train.cleaning import clean
from midfill_engine.train.corpus import NEVER, Corpus, CorpusSettings, collect, read_corpus, write_corpus, write_sources
from midfill_engine.train.shards import save_shard, tokenize
from midfill_engine.train.sources import Package, licence_of, read_folder, read_wheels

SPLITS = ("dev", "heldout", "train")


def build(
    folder: Path,
    *,
    wheels: Path | None = None,
    installed: Iterable[str] = (),
    has_stdlib: bool = False,
    corpus_file: Path | None = None,
    tokenizer_file: Path | None = None,
    share: float = 1.0,
    is_compressed: bool = False,
) -> Corpus:
    """Write the corpus, SOURCES.tsv and, with a tokenizer, the shards under `folder`. Returns the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    if corpus_file is None:
        corpus = _collect(_packages(wheels, installed, has_stdlib))
        write_corpus(corpus, folder / ("corpus.jsonl.xz" if is_compressed else "corpus.jsonl"))
    else:
        corpus = read_corpus(corpus_file, share)
    write_sources(corpus, folder / "SOURCES.tsv")
    if tokenizer_file is not None:
        write_shards(corpus, Tokenizer.from_file(str(tokenizer_file)), folder)
    return corpus


def write_shards(corpus: Corpus, tokenizer: Tokenizer, folder: Path) -> None:
    """Tokenise each split on all cores and write it."""
    for split in SPLITS:
        shard = tokenize([file.text for file in corpus.files if file.split == split], tokenizer)
        save_shard(shard, folder, split)
        print(f"{split}: {len(shard)} files, {len(shard.ids)} tokens", flush=True)


def _collect(packages: Iterable[Package]) -> Corpus:
    with Pool() as pool:
        return collect(packages, CorpusSettings(), lambda raws: pool.imap(clean, raws, chunksize=16))


def _packages(wheels: Path | None, installed: Iterable[str], has_stdlib: bool) -> Iterator[Package]:
    """All packages asked for, and those that must be known to recognise copies of them, if they are installed."""
    if wheels is not None:
        yield from read_wheels(wheels)
    if has_stdlib:
        yield read_folder(Path(sysconfig.get_path("stdlib")), "cpython-stdlib", platform.python_version(), "PSF-2.0")
    site = Path(sysconfig.get_path("purelib"))
    known = sorted(name for name in NEVER if (site / name).is_dir())
    for name in [*installed, *known]:
        message = metadata.metadata(name)
        yield read_folder(site / name, name, message["Version"], licence_of(message))
