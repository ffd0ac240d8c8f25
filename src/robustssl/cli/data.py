"""Commands that list, download and locate datasets, and the banks of their vectors."""

from collections import Counter
from typing import Annotated

import typer

from robustssl.cli._print import print_table, say
from robustssl.spec import parse

app = typer.Typer(help="List, download and locate datasets and vectors.", no_args_is_help=True)


@app.command("list")
def list_() -> None:
    """List the datasets, and whether each is on this machine."""
    from robustssl import registry
    from robustssl.downloads.cache import place

    def available(name: str) -> str:
        if name in ("arrays", "image_folder", "table"):
            return "your own"
        bundled = name in ("iris", "wine", "digits", "breast_cancer")
        return "yes" if bundled or place(name).is_dir() else "no"

    rows = registry.catalog("dataset")
    columns = ["name", "available", "summary"]
    print_table(columns, [[r["name"], available(r["name"]), r["summary"]] for r in rows])


@app.command()
def fetch(names: Annotated[list[str], typer.Argument(help="Names of datasets.")]) -> None:
    """Download datasets into the cache, and the encoders they use."""
    from robustssl import registry
    from robustssl.encoders import Pretrained

    for name in names:
        dataset = registry.dataset(name)
        shape, classes = " x ".join(map(str, dataset.X.shape)), len(set(dataset.y.tolist()))
        owner, licence = (dataset.meta.get(key, "not stated") for key in ("owner", "licence"))
        say(f"{name}: {dataset.kind}, {shape}, {classes} classes")
        say(f"  {owner}; licence: {licence}")
        if dataset.domain is not None:
            rows = Counter(dataset.domain.tolist())
            say("  domains: " + ", ".join(f"{d} ({n:,} rows)" for d, n in rows.items()))
        say(f"  sha256 {dataset.sha256}")
        encoder = registry.encoder(dataset.encoder) if dataset.encoder else None
        if isinstance(encoder, Pretrained):
            encoder.vectors(dataset.X[:1])  # downloads the weights


@app.command()
def path(name: Annotated[str, typer.Argument(help="Name of a dataset.")]) -> None:
    """Print the folder of the cache that a dataset is downloaded to."""
    from robustssl import registry
    from robustssl.downloads.cache import place

    plain, _ = parse(name)
    registry.find("dataset", plain)
    say(place(plain))


@app.command()
def banks(
    delete: Annotated[
        list[str] | None, typer.Option(help="Delete the bank of this name; may be repeated.")
    ] = None,
) -> None:
    """List the banks of vectors, or delete some of them."""
    from robustssl.downloads import banks as kept

    for name in delete or []:
        kept.delete_bank(name)
        say(f"deleted {name}")
    for bank in kept.banks():
        size = f"{bank.size / 1e6:,.1f} MB"
        say(f"{bank.name}: {bank.rows:,} rows, {size}, last added to {_age(bank.age)}")
    if not kept.banks() and not delete:
        say("there are no banks: a study of images or texts behind an encoder makes them")


def _age(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit} ago"
    return "just now"
