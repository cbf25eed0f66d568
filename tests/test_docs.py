"""The documentation names only what exists, and names all of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evals.__main__ import parser as evals_parser
from service.cli.main import parser as service_parser
from service.cli.serve import TRY_THESE
from service.ingest.articles import read_folder
from service.settings import variables
from service.web.problems import CODES

ROOT = Path(__file__).parents[1]
CONTENT = ROOT / "content" / "articles"
DOCS = [*sorted(CONTENT.glob("*.mdx")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]

SETTING = re.compile(r"\b(?:ASK_BLOG|RAG)_[A-Z_]*[A-Z]\b")
COMMAND = re.compile(r"python -m (service|evals)((?: +[a-z-]+(?![\w./]))?)([^`\n]*)")
TARGET = re.compile(r"\bmake ([a-z]+)\b(?=[`\n ]*(?:`|\n|$|#))")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
RELATIVE_LINK = re.compile(r"\]\((?!https?:|#|/)([a-z0-9-]+)(#[\w-]+)?\)")


def code_of(text: str) -> str:
    """Inline code and fences: where commands are meant literally."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))


@pytest.fixture(params=DOCS, ids=lambda path: path.stem)
def doc(request: pytest.FixtureRequest) -> str:
    return str(request.param.read_text("utf-8"))


def test_settings_exist(doc: str) -> None:
    named = set(SETTING.findall(doc))
    wrong = {"ASK_BLOG_PROT", "ASK_BLOG_MODLE"}  # shown as examples of a wrong name
    assert named - wrong <= set(variables())


def test_commands_and_their_options_exist(doc: str) -> None:
    for module, name, rest in COMMAND.findall(code_of(doc)):
        parser = service_parser() if module == "service" else evals_parser()
        commands = parser._subparsers._group_actions[0].choices
        if not name.strip():
            continue
        assert name.strip() in commands, f"{module}{name}"
        known = commands[name.strip()].format_help()
        for option in OPTION.findall(rest):
            nested = option == "--from" and name.strip() == "models"
            assert nested or option in known, f"{module}{name} {option}"


def test_make_targets_exist(doc: str) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in TARGET.findall(code_of(doc)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_links_between_articles_lead_somewhere() -> None:
    folder = read_folder(CONTENT)
    anchors = {a.slug: {s.anchor for s in a.sections} for a in folder.articles}
    for path in sorted(CONTENT.glob("*.mdx")):
        for slug, anchor in RELATIVE_LINK.findall(path.read_text("utf-8")):
            assert slug in anchors, f"{path.name}: {slug}"
            assert not anchor or anchor[1:] in anchors[slug], f"{path.name}: {slug}{anchor}"


def test_every_article_is_read_whole_and_long_enough_to_be_worth_reading() -> None:
    folder = read_folder(CONTENT)
    assert folder.failures == ()
    assert len(folder.articles) >= 8
    for article in folder.articles:
        assert article.warnings == ()
        assert 800 <= len(article.text.split()) <= 2000, article.slug


def test_every_setting_is_documented_in_the_readme_and_the_handbook() -> None:
    for path in (ROOT / "README.md", CONTENT / "settings.mdx"):
        text = path.read_text("utf-8")
        assert [name for name in variables() if name not in text] == [], path


def test_every_problem_code_is_documented() -> None:
    text = (CONTENT / "http-api.mdx").read_text("utf-8")
    assert [code for code in CODES if f"`{code}`" not in text] == []


def test_the_demo_suggests_what_the_terminal_does() -> None:
    page = (ROOT / "service" / "web" / "widget" / "demo.html").read_text("utf-8")
    assert "|".join(TRY_THESE) in page


def test_compose_and_dockerfile_agree_with_the_service() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    environment = compose["services"]["service"]["environment"]
    assert set(environment) <= set(variables())
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert set(SETTING.findall(dockerfile)) <= set(variables())
    assert "USER 10001" in dockerfile
    assert "HEALTHCHECK" in dockerfile


def test_the_dockerfile_is_lint_free() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    result = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, check=False)
    assert (result.returncode, result.stdout.decode()) == (0, "")


@pytest.mark.parametrize("lock", ["requirements.lock", "deploy/requirements.lock"])
def test_every_locked_package_has_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "http" not in re.sub(r"http(?:core|x)?2?\b|httptools", "", text)
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        if "==" in requirement.splitlines()[0]:
            assert "--hash=sha256:" in requirement
