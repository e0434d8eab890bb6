"""`python -m kvplan`, and the entry point of the installed command."""

from __future__ import annotations

import sys

EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line; exits."""
    try:
        from kvplan.cli.app import app  # noqa: PLC0415 - so that Ctrl-C while it is imported is caught too

        app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
