"""The program of the warm process, `python -m autograder.isolation DESCRIPTOR SETTINGS`."""

import gc


def main() -> None:
    gc.disable()  # first: imports leave hardly any garbage, and collecting it took a third of the start
    from autograder.isolation import zygote

    zygote.main()


if __name__ == "__main__":
    main()
