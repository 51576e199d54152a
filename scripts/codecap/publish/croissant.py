"""A data set's metadata in Croissant 1.0: files with their digests, and how the clips and annotations are read from them.

Source: the Croissant format specification 1.0, https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codecap.clips_table import CLIP_COLUMNS
from codecap.publish.about import About
from codecap.publish.licences import identifier

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
FORMATS = {
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
}
TYPES = {"frames": "sc:Integer", "width_px": "sc:Integer", "height_px": "sc:Integer"}
TYPES |= {"source_start_s": "sc:Float", "source_end_s": "sc:Float"}
SAID = {
    "clip_id": "Name of the clip.",
    "category": "Letter of its category.",
    "mp4": "Where its video lies, or is put by `codecap dataset rebuild`, in this folder.",
    "sha256": "Digest of its video.",
    "frames": "Its frames, at 24 a second.",
    "width_px": "Width in pixels.",
    "height_px": "Height in pixels.",
    "source": "Name and digest of the file that it was cut from.",
    "licence": "The licence as its source states it.",
    "source_start_s": "Where it begins in that file, in seconds.",
    "source_end_s": "Where it ends there.",
    "annotation_sha256": "Digest of what its annotation says; empty where it was not frozen.",
    "dataset_version": "Version of the data set in which the clip or its annotation came in or changed last.",
}
POINT = {
    "focal_id": ("sc:Text", "Name of the focal point within its clip."),
    "kind": ("sc:Text", "static or dynamic."),
    "description": ("sc:Text", "What is to be seen."),
    "start_s": ("sc:Float", "When it begins, in seconds of the clip."),
    "end_s": ("sc:Float", "When it ends."),
}
# The same files twice: what is read from one set must have as many records in all its fields.
POINT_FILES, OBJECT_FILES = "annotations-with-focal-points", "annotations-with-objects"
OBJECT = {
    "name": ("sc:Text", "Name of the object within its clip."),
    "description": ("sc:Text", "What it is."),
}


def card(about: About, files: Mapping[str, str], statement: str, has_media: bool, has_annotations: bool) -> dict[str, Any]:
    """The metadata as JSON-LD.

    Args:
        files: digests (sha256) of the single files, by their place in the folder.
        statement: what the data set is, in a sentence or two.
        has_media, has_annotations: whether there are clips' videos, and annotations.
    """
    told: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": about.name,
        "description": statement,
        "license": _licence(about.licence),
        "version": about.version,
        "datePublished": about.published,
        "keywords": ["video captioning", "code generation", "structured 2D video"],
        "distribution": [_file(place, sha256) for place, sha256 in sorted(files.items())],
        "recordSet": [_clips(), *([_points(), _objects()] if has_annotations else [])],
    }
    if about.url:
        told["url"] = about.url
    if about.creators:
        told["creator"] = [{"@type": "sc:Person", "name": name} for name in about.creators]
    if about.citation:
        told["citeAs"] = about.citation
    if has_annotations:
        told["distribution"] += [_set(name, "annotations/*.json", "application/json") for name in (POINT_FILES, OBJECT_FILES)]
    if has_media:
        told["distribution"].append(_set("videos", "clips/*.mp4", "video/mp4"))
    return told


def _licence(stated: str) -> str:
    """SPDX's address of it, where it is one that is understood."""
    known = identifier(stated)
    return f"https://spdx.org/licenses/{known}" if known and known != "CC-PDM-1.0" else stated


def _file(place: str, sha256: str) -> dict[str, Any]:
    suffix = place[place.rfind(".") :]
    return {
        "@type": "cr:FileObject",
        "@id": place,
        "name": place,
        "contentUrl": place,
        "encodingFormat": FORMATS[suffix],
        "sha256": sha256,
    }


def _set(name: str, includes: str, encoding: str) -> dict[str, Any]:
    return {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": encoding, "includes": includes}


def _clips() -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "clips",
        "name": "clips",
        "description": "One record a clip.",
        "key": {"@id": "clips/clip_id"},
        "field": [
            _field(
                "clips",
                name,
                TYPES.get(name, "sc:Text"),
                SAID[name],
                {"fileObject": {"@id": "clips.tsv"}, "extract": {"column": name}},
            )
            for name in CLIP_COLUMNS
        ],
    }


def _points() -> dict[str, Any]:
    return _annotated("focal_points", POINT_FILES, "One record a focal point.", POINT)


def _objects() -> dict[str, Any]:
    return _annotated("objects", OBJECT_FILES, "One record an annotated object; its boxes are in the annotation's file.", OBJECT)


def _annotated(name: str, files: str, said: str, fields: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Records out of the lists that each annotation holds under `name`; the clip is told by the file's name."""
    whose = {"fileSet": {"@id": files}, "extract": {"fileProperty": "filename"}, "transform": {"regex": r"^(.*)\.json$"}}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": said,
        "field": [
            _field(name, "clip_id", "sc:Text", "Its clip.", whose),
            *(
                _field(name, field, kind, what, {"fileSet": {"@id": files}, "extract": {"jsonPath": f"$.{name}[*].{field}"}})
                for field, (kind, what) in fields.items()
            ),
        ],
    }


def _field(record_set: str, name: str, kind: str, said: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": said,
        "dataType": kind,
        "source": source,
    }


def single_files(names: Sequence[str]) -> list[str]:
    """Those files of a folder that the metadata lists one by one: not the many of one kind, nor the metadata and the digests.

    >>> single_files(["clips.tsv", "annotations/A_1.json", "croissant.json", "SHA256SUMS"])
    ['clips.tsv']
    """
    return [name for name in names if "/" not in name and name != "croissant.json" and name[name.rfind(".") :] in FORMATS]
