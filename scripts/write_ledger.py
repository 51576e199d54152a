"""Write what became of every candidate."""

from datetime import UTC, datetime
from pathlib import Path

from codecap import job
from codecap.collect.ledger import write_ledger
from codecap.records import Asked, Candidate, Duplicate, Original, Part, PassedOver, read_rows


def run(*, config: dict, inputs: dict, folder: Path) -> None:
    candidates = Path(inputs["candidates"])
    write_ledger(
        folder,
        durable=Path(config["store"]["durable"]),
        sources=config["sources"],
        asked=list(read_rows(Path(inputs["asked"]), Asked)),
        offered=list(read_rows(candidates, Candidate)),
        originals=[row for path in inputs["originals"] for row in read_rows(Path(path), Original)],
        seen=datetime.fromtimestamp(candidates.stat().st_mtime, UTC).strftime("%Y-%m-%d"),
        duplicates=list(read_rows(Path(inputs["duplicates"]), Duplicate)),
        passed_over=list(read_rows(Path(inputs["passed_over"]), PassedOver)),
        parts=list(read_rows(Path(inputs["parts"]), Part)),
    )


if "snakemake" in globals():
    with job.running(snakemake.log[0]):
        names = ("candidates", "asked", "originals", "duplicates", "passed_over", "parts")
        inputs = {name: snakemake.input[name] for name in names}
        run(config=snakemake.config, inputs=inputs, folder=Path(snakemake.output.ledger).parent)
