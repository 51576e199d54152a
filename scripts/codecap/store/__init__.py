"""Finished items, kept outside Snakemake's outputs.

Snakemake deletes what a failed job has made. A shard that dies after 31 of 32 clips would make them all again; for paid model
calls that is money. So each item is written here when it is done, under a key that digests all that determines it. `layout` says
where, `items` how an item comes into its place, `packing` how many become few files.

An item is there whole or not at all, after SIGKILL and on shared filesystems too. Two who make one item at the same time get the
same: the first to finish is kept. Nothing here needs flock or fcntl: `leases` has the one lock there is.
"""

from codecap.store.cleaning import clean
from codecap.store.failures import StoreError, explained
from codecap.store.items import Draft, Item, ItemStore, digest_of
from codecap.store.log import made
from codecap.store.places import at, copy_to, open_at, pack_of, there
from codecap.store.putting import make_folder, open_shared
from codecap.store.settings import StoreSettings, current, scratch_folder, use
from codecap.store.verifying import verify

__all__ = [
    "Draft",
    "Item",
    "ItemStore",
    "StoreError",
    "StoreSettings",
    "at",
    "clean",
    "copy_to",
    "current",
    "digest_of",
    "explained",
    "made",
    "make_folder",
    "open_at",
    "open_shared",
    "pack_of",
    "scratch_folder",
    "there",
    "use",
    "verify",
]
