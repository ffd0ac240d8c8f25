"""The datasets: listed, fetched and found."""

from typing import Annotated

import typer

from robustssl.cli._print import print_table, say
from robustssl.spec import parse

app = typer.Typer(
    help="The datasets: which there are, fetching them, where they lie.", no_args_is_help=True
)


@app.command("list")
def list_() -> None:
    """List the datasets, and which of them are at hand."""
    from robustssl import registry
    from robustssl.downloads.cache import place

    def at_hand(name: str) -> str:
        if name in ("image_folder", "table"):
            return "yours"
        bundled = name in ("iris", "wine", "digits", "breast_cancer")
        return "yes" if bundled or place(name).is_dir() else "no"

    rows = registry.catalog("dataset")
    columns = ["name", "at hand", "summary"]
    print_table(columns, [[r["name"], at_hand(r["name"]), r["summary"]] for r in rows])


@app.command()
def fetch(names: Annotated[list[str], typer.Argument(help="Names of datasets.")]) -> None:
    """Fetch datasets into the cache, unless they are there, and the encoders they name."""
    from robustssl import registry
    from robustssl.encoders.minilm import encode

    for name in names:
        dataset = registry.dataset(name)
        shape, classes = " x ".join(map(str, dataset.X.shape)), len(set(dataset.y.tolist()))
        owner, licence = (dataset.meta.get(key, "not stated") for key in ("owner", "licence"))
        say(f"{name}: {dataset.kind}, {shape}, {classes} classes")
        say(f"  {owner}; licence: {licence}")
        say(f"  sha256 {dataset.sha256}")
        if dataset.meta.get("encoder", "tfidf") != "tfidf":
            encode(dataset.X[:1].tolist(), dataset.meta["encoder"])  # fetches the encoder too


@app.command()
def path(name: Annotated[str, typer.Argument(help="The name of a dataset.")]) -> None:
    """Say where a fetched dataset lies, or would lie."""
    from robustssl import registry
    from robustssl.downloads.cache import place

    plain, _ = parse(name)
    registry.find("dataset", plain)
    say(place(plain))
