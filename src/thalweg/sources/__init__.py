"""ROWS FROM FILES, in constant memory: CSV, Parquet, Arrow, NDJSON, folders of them, or a pipe."""

from thalweg.sources.block import BadRow, Block
from thalweg.sources.chunks import Chunk, chunks
from thalweg.sources.fingerprint import Fingerprint
from thalweg.sources.opening import Source, open_source

__all__ = ["BadRow", "Block", "Chunk", "Fingerprint", "Source", "chunks", "open_source"]
