"""What `init` writes into a project: a test, a section of pyproject.toml and a job for CI."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.init_find import Candidate
from harness.report.files import write

PYPROJECT = "pyproject.toml"
TEST = "test_steady.py"
GITHUB = ".github/workflows/steadyframe.yml"
GITLAB = ".gitlab/steadyframe.yml"
"""to be included from .gitlab-ci.yml, which is the project's own"""

_TEMPLATES = Path(__file__).parent / "init_templates"
_SECTION = re.compile(r"^\[\[?\s*tool\s*\.\s*steadyframe\b.*\n(?:(?!\[).*\n)*", re.MULTILINE)
"""its tables in a text that ends with a line end"""
_OPENS = re.compile(r"^(open|make|create|build)[_-]+")
_PATH_LINE = "# Fresh processes, too, find what is not installed."


@dataclass(frozen=True, slots=True)
class Place:
    """Where a target is imported from."""

    target: str
    """as the command line takes it in the project's folder"""
    file: str = ""
    """relative path of a file that is in no package, and so imported by its path"""
    root: str = ""
    """relative path of the folder that a package is imported from, `src` or none"""


@dataclass(frozen=True, slots=True)
class File:
    """One file to be written."""

    path: Path
    text: str
    said: str
    """what it is"""


def place_of(project: Path, file: Path, name: str) -> Place:
    """That of a name at the top of a file, which is relative to the project."""
    package = list(_package(project, file))
    if not package:
        return Place(f"{file}:{name}", file=str(file))
    module = [*package, *([] if file.stem == "__init__" else [file.stem])]
    root = file.parents[len(package)]
    return Place(f"{'.'.join(module)}:{name}", root="" if root == Path() else str(root))


def place_of_candidate(project: Path, candidate: Candidate) -> Place:
    """That of a candidate."""
    return place_of(project, candidate.file, candidate.name)


def files(project: Path, place: Place, *, force: bool) -> list[File]:
    """All that is to be written. Raises UsageError if any of it is there, without `force`."""
    test = Path("tests", TEST) if (project / "tests").is_dir() else Path(TEST)
    name = case_name(place.target)
    job = _job_path(project)
    made = [
        File(test, _test(place, name, len(test.parts) - 1), "a test that pytest runs"),
        File(
            Path(PYPROJECT),
            _pyproject(project, place, name, force=force),
            "the section [tool.steadyframe]",
        ),
        File(job, _job(project, job, test), "a job for CI"),
    ]
    there = [str(each.path) for each in made if (project / each.path).exists()]
    if (taken := [path for path in there if path != PYPROJECT]) and not force:
        raise UsageError(
            f"{' and '.join(taken)} is there already, and nothing was written: --force replaces it"
        )
    return made


def write_all(project: Path, made: list[File]) -> None:
    """Write them."""
    for each in made:
        path = project / each.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make {path.parent} ({error.strerror})") from None
        write(path, each.text)


def case_name(target: str) -> str:
    """What a target is called: `mypackage.filters:open_denoise` is denoise."""
    name = target.rpartition(":")[2] or target
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    return re.sub(r"[^a-z0-9]+", "-", _OPENS.sub("", name)).strip("-") or "backend"


def _package(project: Path, file: Path) -> Iterator[str]:
    """Names of the packages that a file is in, outermost first."""
    folders = []
    for folder in file.parents:
        if folder == Path() or not (project / folder / "__init__.py").is_file():
            break
        folders.append(folder.name)
    yield from reversed(folders)


def _test(place: Place, name: str, depth: int) -> str:
    up = f".parents[{depth}]" if depth else ".parent"
    imports = ["from pathlib import Path"]
    setup = [f"ROOT = Path(__file__).resolve(){up}"]
    if place.file:
        target = json.dumps(f"/{place.file}:{place.target.rpartition(':')[2]}", ensure_ascii=False)
        setup += [f"TARGET = str(ROOT) + {target}"]
    else:
        imports.insert(0, "import sys")
        root = f"ROOT / {json.dumps(place.root)}" if place.root else "ROOT"
        target = json.dumps(place.target, ensure_ascii=False)
        setup += [_PATH_LINE, f"sys.path.insert(0, str({root}))", f"TARGET = {target}"]
    return _filled("test", NAME=name, IMPORTS="\n".join(imports), SETUP="\n".join(setup))


def _pyproject(project: Path, place: Place, name: str, *, force: bool) -> str:
    """The whole file, with the section at its end; nothing else in it is changed."""
    path = project / PYPROJECT
    section = _filled(
        "pyproject", NAME=json.dumps(name), TARGET=json.dumps(place.target, ensure_ascii=False)
    )
    if not path.exists():
        return section
    try:
        before = path.read_text(encoding="utf-8")
        table = tomllib.loads(before).get("tool", {})
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None
    if "steadyframe" in table:
        if not force:
            raise UsageError(
                f"{PYPROJECT} has a section [tool.steadyframe] already, and nothing was written: "
                "--force replaces it"
            )
        before = _SECTION.sub("", f"{before}\n")
    after = f"{before.rstrip()}\n\n{section}" if before.strip() else section
    if not _only_section_differs(path.read_text(encoding="utf-8"), after):
        raise UsageError(
            f"[tool.steadyframe] can't be added to {PYPROJECT} as it is written: add it by hand, "
            "see the README"
        )
    return after


def _only_section_differs(before: str, after: str) -> bool:
    documents = []
    for text in (before, after):
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return False
        tool = {k: v for k, v in document.get("tool", {}).items() if k != "steadyframe"}
        documents.append({**document, "tool": tool})
    return documents[0] | {"tool": documents[0].get("tool", {})} == documents[1]


def _job_path(project: Path) -> Path:
    """Where the job goes: GitLab's folder if the project is there, else GitHub's."""
    if (project / ".gitlab-ci.yml").exists() or "gitlab" in _remotes(project):
        return Path(GITLAB)
    return Path(GITHUB)


def _remotes(project: Path) -> str:
    """The addresses that git knows of the project."""
    try:
        text = (project / ".git" / "config").read_text(errors="replace")
    except OSError:
        return ""
    return " ".join(re.findall(r"^\s*url\s*=\s*(.+)$", text, re.MULTILINE))


def _job(project: Path, path: Path, test: Path) -> str:
    install = ["steadyframe", "pytest"]
    if _is_installable(project):
        install.append("-e .")
    if (project / "requirements.txt").is_file():
        install.append("-r requirements.txt")
    return _filled(
        "gitlab" if path == Path(GITLAB) else "github",
        PYTHON=f"{sys.version_info.major}.{sys.version_info.minor}",
        INSTALL=" ".join(install),
        TEST=shlex.quote(str(test)),
    )


def _is_installable(project: Path) -> bool:
    """Whether it says how it is installed."""
    if any((project / name).is_file() for name in ("setup.py", "setup.cfg")):
        return True
    path = project / PYPROJECT
    return path.is_file() and "project" in tomllib.loads(path.read_text(encoding="utf-8"))


def _filled(template: str, **values: str) -> str:
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda match: values[match[1]], text)
