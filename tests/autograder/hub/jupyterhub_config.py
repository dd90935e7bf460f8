"""A JupyterHub for a test: a server for each person, and for each course a service that shows Formgrader.

What it is about (folder, ports, people, courses) is in a file of JSON, whose path is in HUB_OF_A_TEST.
"""

import json
import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821  JupyterHub defines it
SAID = json.loads(Path(os.environ["HUB_OF_A_TEST"]).read_text())
FOLDER, (PROXY, HUB, INTERNAL) = SAID["folder"], SAID["ports"]
COURSES = SAID["courses"]  # name → folder, port and token of its service, students, staff
PEOPLE = {name for course in COURSES.values() for name in (*course["students"], *course["staff"])}
SINGLE_USER = [sys.executable, "-m", "jupyterhub.singleuser", "--allow-root"]
AS_EVERYBODY = {
    "JUPYTER_CONFIG_PATH": f"{FOLDER}/etc",  # where the exchange is, and that groups of the hub are classes
    "PATH": os.environ["PATH"],
    "OMP_NUM_THREADS": "1",
}

c.JupyterHub.bind_url = f"http://127.0.0.1:{PROXY}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{HUB}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{INTERNAL}"
c.ConfigurableHTTPProxy.command = [SAID["proxy"]]
c.ConfigurableHTTPProxy.pid_file = f"{FOLDER}/proxy.pid"
c.JupyterHub.db_url = f"sqlite:///{FOLDER}/hub.sqlite"
c.JupyterHub.cookie_secret_file = f"{FOLDER}/cookie_secret"

# Anybody of these names may sign in. Without accounts they share that of the test, and differ in their homes.
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = PEOPLE | {f"grader-{course}" for course in COURSES}
if SAID["has_accounts"]:
    c.Spawner.environment = AS_EVERYBODY
else:
    c.JupyterHub.spawner_class = "simple"
    c.SimpleLocalProcessSpawner.home_dir_template = f"{FOLDER}/homes/{{username}}"
    c.Spawner.environment = AS_EVERYBODY | {"JUPYTER_CONFIG_PATH": f"{FOLDER}/students:{FOLDER}/etc"}
c.Spawner.cmd = SINGLE_USER
c.Spawner.start_timeout = c.Spawner.http_timeout = 180

c.JupyterHub.load_groups = {
    **{f"nbgrader-{name}": {"users": course["students"]} for name, course in COURSES.items()},
    **{
        f"formgrade-{name}": {"users": [*course["staff"], f"grader-{name}"]}
        for name, course in COURSES.items()
    },
}
c.JupyterHub.services = [
    {
        "name": name,
        "url": f"http://127.0.0.1:{course['port']}",
        **({"user": f"grader-{name}"} if SAID["has_accounts"] else {}),
        "command": [*SINGLE_USER, f"--config={FOLDER}/service_config.py"],
        "cwd": course["folder"],
        "environment": AS_EVERYBODY
        | {
            "JUPYTERHUB_SINGLEUSER_APP": "jupyter_server.serverapp.ServerApp",
            "JUPYTERHUB_USER": f"grader-{name}",
            "COURSE_ID": name,
            "EXCHANGE_ROOT": f"{FOLDER}/exchange",
            "HOME": f"{FOLDER}/homes/grader-{name}",
        },
        "api_token": course["token"],
        "timeout": 180,  # seconds until it must answer; by default few, after which the whole hub ends
        "oauth_no_confirm": True,
    }
    for name, course in COURSES.items()
]
OWN = ["list:services", "read:services"]
c.JupyterHub.load_roles = [
    {"name": "user", "scopes": ["self", *OWN]},
    {"name": "server", "scopes": ["users:activity!user", "access:servers!server", "read:users!user", *OWN]},
    *(
        {
            "name": f"formgrade-{name}",
            "groups": [f"formgrade-{name}"],
            "scopes": [f"access:services!service={name}"],
        }
        for name in COURSES
    ),
    *(
        {
            "name": f"roster-{name}",
            "services": [name],
            "scopes": [f"groups!group=nbgrader-{name}", f"read:users!group=formgrade-{name}", "list:groups"],
        }
        for name in COURSES
    ),
]
