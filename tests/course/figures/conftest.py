import pytest

from course.data.story_language import StoryLanguage


@pytest.fixture(scope="module")
def language():
    return StoryLanguage()
