"""The web application without its grader: for browsers that the tests play."""

import re

from starlette.testclient import TestClient

from autograder.serving.app import Door
from autograder.serving.attempts import Attempts
from autograder.serving.people import Invitations, Person
from autograder.serving.settings import ServeSettings

KEY = "k" * 40
NAME = "hw"
ADDRESS = "http://127.0.0.1"


def new_door(root, ways=(), **settings):
    settings = ServeSettings(**{"address": ADDRESS, **settings})
    attempts = Attempts(f"sqlite:///{root}/serve.db")
    return Door(root, settings, attempts, KEY, [NAME], ways)


class Browser(TestClient):
    """Somebody with cookies, who fills in the forms that pages hold."""

    def __init__(self, door, address=ADDRESS):
        super().__init__(door.app(), base_url=address, follow_redirects=True)

    def form(self, page):
        """The fields that the last form of a page holds already."""
        return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', self.get(page).text))

    def join(self, name, is_staff=False):
        link = Invitations(KEY).link(ADDRESS, Person(name, is_staff))
        return self.post("/join", data=self.form(link.removeprefix(ADDRESS)))

    def hand_in(self, content, filename="hw.ipynb", page=f"/homework/{NAME}"):
        files = [
            ("notebook", (filename, one)) for one in (content if isinstance(content, list) else [content])
        ]
        return self.post(page, data=self.form(page), files=files)
