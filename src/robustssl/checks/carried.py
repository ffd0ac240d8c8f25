"""What a submission carries besides its records: the modules and the files that its study names, so
that others can run it again.
"""

import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path, PurePath

from robustssl import registry
from robustssl.cell import Cell
from robustssl.registry.trust import module_of
from robustssl.spec import parse, thing_of
from robustssl.studies.study import Study

CODE, FILES = "code", "files"  # folders of a submission


@dataclass(frozen=True)
class Carried:
    """What lies in a submission (`carries`), what its study needs and does not lie there (`lacks`),
    and the modules whose code a reviewer would run (`trust`).
    """

    trust: list[str]
    carries: list[str]
    lacks: list[str]


def carry(chosen: Study, place: Path) -> Carried:
    """Copy the modules and the data files that a study names into a submission."""
    modules = sorted({module_of(name) for cell in chosen.cells() for name in own_names(cell)})
    found, lacks = dict[PurePath, Path](), list[str]()
    for module in modules:
        top = module.partition(".")[0]
        if package := _installed(top):
            lacks.append(package)
        else:
            found |= {PurePath(CODE, name): file for name, file in _sources(top)}
    for path in sorted({path for spec in chosen.datasets if (path := path_of(spec))}):
        is_inside = not path.is_absolute() and ".." not in path.parts
        if is_inside and path.is_file():
            found[PurePath(FILES, path)] = path
        else:
            lacks.append(str(path))
    for name, file in found.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place / name)
    return Carried(modules, sorted(name.as_posix() for name in found), lacks)


def own_names(cell: Cell) -> Iterator[str]:
    """What a cell names as `module:object`."""
    is_own = ":" in cell.algorithm
    nested = {} if is_own else registry.about("algorithm", cell.algorithm).nested
    values = [v for key, v in cell.params if key in nested and isinstance(v, str)]
    names = [parse(spec)[0] for spec in (cell.algorithm, cell.environment, *values)]
    for name in (*names, thing_of("dataset", cell.dataset)):
        yield from (part for part in name.split("+") if ":" in part)


def path_of(dataset: str) -> Path | None:
    """The file of a dataset, if it has one."""
    path = parse(dataset)[1].get("path")
    return None if path is None else Path(str(path))


@cache
def _installed(top: str) -> str | None:
    """The package, with its version, that installed a module; None if no package did."""
    packages = metadata.packages_distributions().get(top)
    return f"{packages[0]}=={metadata.version(packages[0])}" if packages else None


def _sources(top: str) -> Iterator[tuple[PurePath, Path]]:
    """The source files of a module or of a whole package, with their names from its folder."""
    spec = importlib.util.find_spec(top)
    assert spec is not None  # the study was read, so it was imported
    folders = spec.submodule_search_locations or ()
    for folder in map(Path, folders):
        yield from ((file.relative_to(folder.parent), file) for file in folder.rglob("*.py"))
    if not folders and spec.origin:
        yield PurePath(Path(spec.origin).name), Path(spec.origin)
