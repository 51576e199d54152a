"""The command `codecap`, also as `python -m codecap`."""

import os


def main() -> None:
    """Run the command line."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's own threads spin as they start, and nothing here gains by them
    from codecap.cli import app

    app()


if __name__ == "__main__":
    main()
