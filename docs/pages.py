"""Pages that are made of the code: algorithms, environments, datasets, public names, examples.

A hook of mkdocs. A link to a file outside of this folder leads to the page that shows the file, so
that the same text can be read in the repository and on the site.
"""

import csv
import html
import inspect
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation
from mkdocs.structure.pages import Page

import robustssl
from robustssl import registry
from robustssl.checks._worlds import WORLDS
from robustssl.deep import DeepClassifier
from robustssl.environments import Environment
from robustssl.records.catalog import data_kind

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(f for f in (ROOT / "examples").iterdir() if f.suffix in (".py", ".yaml"))
COPIES = {
    "benchmarks/README.md": "benchmarks.md",
    "experiments/README.md": "experiments.md",
    "experiments/all_findings.md": "all_findings.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "results/README.md": "results.md",
}
SHOWN = {  # files and folders of the repository, and the pages that show them
    **COPIES,
    "examples": "examples.md",
    "src/robustssl/__init__.py": "api.md",
    "src/robustssl/algorithms": "algorithms/index.md",
    "src/robustssl/datasets": "datasets.md",
    "src/robustssl/environments": "environments.md",
    **{f"examples/{f.name}": f"examples.md#{f.stem}" for f in EXAMPLES},
    **{
        f"src/robustssl/algorithms/{name}.py": f"algorithms/{name}.md"
        for name in registry.names("algorithm")
    },
}

FAMILIES = {
    "Statistical": "They learn in milliseconds to seconds, on a processor.",
    "Deep": "A net and a loss; made for unlabeled data that are like the labeled data.",
    "Robust": "Their authors claim to answer unlabeled data that differ, in the ways named.",
    "Baselines": "They see the labeled rows alone. Every other algorithm names one of them.",
}


def family(algorithm: type) -> str:
    if getattr(algorithm, "supervised", False):
        return "Baselines"
    if set(getattr(algorithm, "targets", ())) - {"consistent"}:
        return "Robust"
    return "Deep" if hasattr(algorithm, "fit_together") else "Statistical"


def by_family() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in FAMILIES}
    for name in registry.names("algorithm"):
        found[family(registry.algorithm(name))].append(name)
    return found


def text(thing: Any) -> str:
    """A docstring as markdown."""
    return signs(inspect.getdoc(thing) or "")


def signs(words: str) -> str:
    """Plain text as markdown: `names` stay, signs mean themselves, arXiv is linked."""
    parts = re.split(r"(`[^`]+`)", words)
    plain = (p if p[:1] == "`" else re.sub(r"([\\*_<>\[\]|$])", r"\\\1", p) for p in parts)
    return re.sub(r"arXiv:([\d.]+\d)", r"[\g<0>](https://arxiv.org/abs/\1)", "".join(plain))


def first_paragraph(thing: Any) -> str:
    return text(thing).partition("\n\n")[0].replace("\n", " ")


def table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table of the columns in which something stands."""
    lines = list(rows)
    columns = [
        (name, "---", *values)
        for name, *values in zip(head.split(" | "), *lines, strict=True)
        if any(values)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in zip(*columns, strict=True))


def options(values: Mapping[str, Any]) -> str:
    rows = ((f"`{key}`", f"`{'null' if v is None else v}`") for key, v in values.items())
    return table("option | default", rows)


def settings(title: str, choices: Mapping[str, Mapping[str, Any]]) -> str:
    rows = (
        (f"`{name}`", ", ".join(f"`{k}={v}`" for k, v in values.items()) or "the defaults")
        for name, values in choices.items()
    )
    return table(f"{title} | sets", rows)


def algorithm_page(name: str) -> str:
    found = registry.algorithm(name)
    file = ROOT / "src/robustssl/algorithms" / f"{name}.py"
    baseline = getattr(found, "baseline", None)
    facts = [f"*{family(found)}*, version {registry.version('algorithm', name)}."]
    if baseline in registry.names("algorithm"):
        facts.append(f"Compared with [{baseline}]({baseline}.md).")
    elif baseline:  # an option, another algorithm
        facts.append(f"Compared with the baseline of its `{baseline}`.")
    about = registry.about("algorithm", name)
    facts += [
        f"Its authors claim: {kind} ({signs(place)})." for kind, place in about.targets.items()
    ]
    every = registry.defaults("algorithm", name)
    shared = {f.name for f in fields(DeepClassifier)} if hasattr(found, "fit_together") else set()
    own = {key: value for key, value in every.items() if key not in shared}
    parts = [f"# {name}", text(inspect.getmodule(found)), text(found), " ".join(facts)]
    if own or shared:
        parts.append("## Options")
    if own:
        parts.append(options(own))
    if shared:
        parts.append("Those of every net are [explained once](index.md#nets).")
    if about.presets:
        parts += [
            "## Presets",
            settings("preset", {k: v.options for k, v in about.presets.items()}),
        ]
        parts += [f"`{k}`: from {signs(v.source)}." for k, v in about.presets.items()]
    code = file.read_text()
    parts += ["## Its file", f"```` {{.python title={file.relative_to(ROOT)}}}\n{code}````"]
    return "\n\n".join(parts) + "\n"


def algorithms_page() -> str:
    parts = [
        "# Algorithms",
        "One file each; its page is made of it. An algorithm is a scikit-learn classifier that "
        "takes -1 for “unlabeled”, and "
        "[yours](../tutorials/own_algorithm.md) is one more. `robustssl show algorithm NAME` "
        "says the same in a terminal, `robustssl check NAME` tries whether it keeps its promises. "
        "[Methods and their authors](authors.md) lays them beside what was published.",
    ]
    for title, names in by_family().items():
        rows = (
            (
                f"[{name}]({name}.md)",
                first_paragraph(inspect.getmodule(found)),
                ", ".join(registry.about("algorithm", name).targets),
                getattr(found, "baseline", None) or "",
                ", ".join(registry.about("algorithm", name).presets),
            )
            for name, found in ((name, registry.algorithm(name)) for name in names)
        )
        head = "name | what | claims | baseline | presets"
        parts += [f"## {title}", FAMILIES[title], table(head, rows)]
    base = DeepClassifier.__mro__[1]
    shared = {f.name: f.default for f in fields(DeepClassifier)}
    parts += ["## Nets", text(base), text(DeepClassifier), options(shared)]
    parts += ["A budget sets what all methods of a study share.", settings("budget", base.budgets)]
    return "\n\n".join(parts) + "\n"


def authors_page() -> str:
    """Every method that learns from unlabeled rows beside what its authors published."""
    with (ROOT / "experiments/authors.csv").open(newline="") as file:
        measured = {(row["method"], row["measure"]): row for row in csv.DictReader(file)}
    rows = []
    for name in registry.names("algorithm"):
        about, found = registry.about("algorithm", name), registry.algorithm(name)
        if about.baseline is None:
            continue
        paper = about.presets.get("paper")
        facts = {
            "Paper": first_paragraph(inspect.getmodule(found)),
            "Settings": signs(paper.source) if paper else "of this package",
            "Departures": " ".join(signs(about.departures or "unknown").split()) + ".",
            "Claims": "; ".join(f"{k} ({signs(v)})" for k, v in about.targets.items()) or "nothing",
            "Alive": alive(name, about, measured, getattr(found, "collapses", {})),
        }
        rows.append(
            (f"[{name}]({name}.md)", "<br>".join(f"**{k}:** {v}" for k, v in facts.items()))
        )
    parts = [
        "# Methods and their authors",
        "What each method that learns from unlabeled rows is, where its settings come from, how it "
        "departs from its authors' code, which inconsistency they claim to answer (*consistent*: "
        "they speak of t = 0 alone), and whether it is alive: the share of its predictions that "
        "another draw of unlabeled rows changes and, of nets, the gain over the labeled rows alone "
        "on four kinds of consistent rows (two moons in 16 features, digits, a weak signal in 128 "
        "features, vectors of CIFAR-10) with the 95% interval over ten seeds. "
        "`robustssl check NAME` repeats it; [the experiment](../experiments.md) made it.",
        table("method | beside its authors", rows),
    ]
    return "\n\n".join(parts) + "\n"


def alive(name: str, about: Any, measured: Mapping[Any, Any], collapses: Mapping[str, str]) -> str:
    """What was measured of a method's liveness; unknown if it was not, or of another version."""
    known = {m: row for (n, m), row in measured.items() if n == name}
    if not known or {row["version"] for row in known.values()} != {str(about.version)}:
        return "unknown"
    told = [f"{float(known['changed']['value']):.0%} of predictions change"]
    for world in WORLDS:
        if row := known.get(world.__name__):
            value, low, high = (float(row[key]) for key in ("value", "low", "high"))
            told.append(
                f"{world.__name__.replace('_', ' ')} {value:+.3f} [{low:+.3f}, {high:+.3f}]"
            )
    told += [f"collapses on {k.replace('_', ' ')}: {signs(v)}" for k, v in collapses.items()]
    return "; ".join(told)


def environments_page() -> str:
    parts = [
        "# Environments",
        "How unlabeled data come to differ as t grows. [The protocol](protocol.md) gives the "
        "rules, and [concepts](concepts.md) the pictures; `robustssl show environment NAME` draws "
        "one on your data.",
    ]
    for name in registry.names("environment"):
        found = registry.find("environment", name)
        parts += [f"## {name}", text(found)]
        if own := found.__dataclass_fields__.keys() - Environment.__dataclass_fields__.keys():
            every = registry.defaults("environment", name)
            parts.append(options({key: every[key] for key in every if key in own}))
    parts += ["## Options of all", text(Environment).partition("\n\n")[2]]
    parts.append(options({f.name: f.default for f in fields(Environment)}))
    return "\n\n".join(parts) + "\n"


def datasets_page() -> str:
    parts = [
        "# Datasets",
        "`robustssl data list` says which are available, `robustssl data fetch NAME` fetches one, "
        "once. [Your own](tutorials/own_data.md) is a file.",
    ]
    for kind, title in {"tabular": "Tables", "image": "Images", "text": "Texts"}.items():
        names = [name for name in registry.names("dataset") if data_kind(name) == kind]
        rows = (
            (f"`{name}`", first_paragraph(load), first_paragraph(inspect.getmodule(load)))
            for name, load in ((name, registry.find("dataset", name)) for name in names)
        )
        parts += [f"## {title}", table("name | what | source", rows)]
    return "\n\n".join(parts) + "\n"


def api_page() -> str:
    named = [name for name in robustssl.__all__ if name != "__version__"]
    types = [name for name in named if inspect.isclass(getattr(robustssl, name))]
    homes = {name: f"{getattr(robustssl, name).__module__}.{name}" for name in named}

    def shown(names: list[str]) -> str:
        return "\n\n".join(f"::: {homes[name]}" for name in names)

    return (
        "# Python\n\nEverything here is `robustssl.NAME`; a name is looked up when it is first "
        "used, so `import robustssl` is quick.\n\n## Functions\n\n"
        + shown([name for name in named if name not in types])
        + "\n\n## Types\n\n"
        + shown(types)
        + "\n\n## A deep method of one's own\n\nFrom `robustssl.deep`; "
        "[the tutorial](tutorials/own_algorithm.md) shows one.\n\n"
        "::: robustssl.deep.estimator.DeepClassifier\n    options:\n      inherited_members: true\n"
        "\n::: robustssl.deep.types.Batch\n"
        "\n## Two curves or more\n\nFrom `robustssl.analysis.compare`.\n\n"
        "::: robustssl.analysis.compare\n"
        "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"
    )


def examples_page() -> str:
    parts = ["# Examples", "From the folder `examples`; the tests run them."]
    for file in EXAMPLES:
        language = {".py": "python", ".yaml": "yaml"}[file.suffix]
        parts += [f"## {file.name} {{#{file.stem}}}", f"````{language}\n{file.read_text()}````"]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Every page that is not a file of this folder, by its place on the site."""
    made = {target: (ROOT / source).read_text() for source, target in COPIES.items()}
    made |= {f"algorithms/{n}.md": algorithm_page(n) for n in registry.names("algorithm")}
    made |= {"algorithms/index.md": algorithms_page(), "algorithms/authors.md": authors_page()}
    made |= {"environments.md": environments_page()}
    made |= {"datasets.md": datasets_page(), "api.md": api_page(), "examples.md": examples_page()}
    return made


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Algorithms stand in the navigation by family."""
    (listed,) = (item["Algorithms"] for item in config.nav or [] if "Algorithms" in item)
    for title, names in by_family().items():
        listed.append({title: [f"algorithms/{name}.md" for name in names]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for place, content in pages().items():
        files.append(File.generated(config, place, content=content))
    return files


_LINK = re.compile(r"(\]\()([^)#:\s]+)([)#])")
_HOMES = {target: source for source, target in COPIES.items()}


def on_nav(nav: Navigation, **_: Any) -> Navigation:
    """The menu holds the leaderboard, whose pages `make docs` builds beside these."""
    [results] = [item for item in nav.items if item.title == "Results"]
    link = Link("The leaderboard", "leaderboard/index.html")
    link.parent = results
    results.children.insert(1, link)
    return nav


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links that lead out of this folder lead to the pages that show what is there."""
    here = page.file.src_uri
    home = posixpath.dirname(_HOMES.get(here, f"docs/{here}"))

    def lead(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(home, link[2]))
        if target in SHOWN:
            place = SHOWN[target]
        elif here in _HOMES and target.startswith("docs/"):
            place = target.removeprefix("docs/")
        else:
            return link[0]
        return link[1] + posixpath.relpath(place, posixpath.dirname(here) or ".") + link[3]

    return _LINK.sub(lead, markdown)


_NAME = re.compile(r"<code>(?=[^\s<]{1,25}</code>)")
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Formulas become MathML, which browsers draw without a script; a short name stays whole."""

    def draw(found: re.Match[str]) -> str:
        display = "block" if found[1] == "div" else "inline"
        return str(convert(html.unescape(found[2]).strip(), display=display))

    return _FORMULA.sub(draw, _NAME.sub('<code class="name">', content))
