"""The command ``thalweg``, which is also ``python -m thalweg``."""

import signal


def main() -> None:
    """Run the command of the process's arguments."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules are imported, Ctrl-C would print a traceback
    from thalweg import cli

    cli.main()


if __name__ == "__main__":
    main()
