"""Run something that cannot be undone in a process of its own."""

import json
import os
import traceback


def forked(action):
    """What a function returns, as JSON has it, when it runs in a fork of this process."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            said = {"result": action()}
        except BaseException:
            said = {"error": traceback.format_exc()}
        os.write(write, json.dumps(said).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = json.load(pipe)
    os.waitpid(process, 0)
    assert "error" not in said, said["error"]
    return said["result"]


def outcome(action, *arguments):
    """ "done", or the name of the error an action ends in."""
    try:
        action(*arguments)
    except OSError as error:
        return type(error).__name__
    return "done"
