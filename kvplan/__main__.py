"""`python -m kvplan`, and the entry point of the installed command."""

from __future__ import annotations

import atexit
import gc
import sys

EXIT_INTERRUPTED = 130
# Objects between collections. Most runs end before the first: what they make has no cycles, and walking
# all that was imported again and again takes a tenth of their time.
_COLLECT_AFTER = 100_000


def main() -> None:
    """Run the command line; exits."""
    gc.set_threshold(_COLLECT_AFTER)
    atexit.register(gc.freeze)  # or the interpreter walks it all several times before it ends
    try:
        from kvplan.cli.app import app  # noqa: PLC0415 - so that Ctrl-C while it is imported is caught too

        app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
