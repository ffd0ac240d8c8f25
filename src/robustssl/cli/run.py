"""Commands that run a study and show its progress."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption, TrustOption
from robustssl.cli._print import duration, notes, say, warn


def run(
    study: Annotated[str, typer.Argument(help="Name of a built-in study, or a YAML file.")],
    store: StoreOption = DEFAULT_STORE,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm",
            "-a",
            help="Also run this algorithm, such as my_module:Mine; may be repeated.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only a part of the study, such as dataset=wine, algorithm=tsvm or "
            "environment=label; may be repeated."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", help="Number of processes; by default, one per core."),
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Also run the cells that failed before.")
    ] = False,
    keep_predictions: Annotated[
        bool,
        typer.Option(
            "--keep-predictions", help="Store the test predictions, not only their digest."
        ),
    ] = False,
    engine: Annotated[
        str, typer.Option(help="local (processes on this machine) or ray (a Ray cluster).")
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="Address of a running Ray cluster; by default, one is started here."),
    ] = None,
    gpu_share: Annotated[
        float,
        typer.Option(
            help="Share of a GPU for each process that trains nets; 0.25 runs four per GPU."
        ),
    ] = 1.0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that a cell may take; a slower cell fails.")
    ] = None,
    memory_limit: Annotated[
        float | None,
        typer.Option(
            help="Gigabytes of memory that a process may use; a cell that needs more fails."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only estimate how many cells would run and for how long; write nothing.",
        ),
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Run the cells of a study that are not in the store yet.

    A cell is one algorithm on one dataset in one environment, at one t and seed. Baselines that
    algorithms name come along. You can stop a run at any time; the same command continues it.
    `robustssl list studies` lists the built-in studies.
    A run imports the modules that the study names, so run only studies whose code you trust; a dry
    run imports only modules that you name with --trust. Your own study is a YAML file:

    \b
        algorithms: [supervised_logistic, self_training]
        environments: [label]
        datasets: [wine]
        labels: [5, 10]   # per class
        seeds: 5
    """
    from robustssl.execution import plan as plans
    from robustssl.execution import run as runs
    from robustssl.registry.trust import module_of, trusting
    from robustssl.studies import changes

    if dry_run:
        named = [module_of(name) for name in algorithm or () if ":" in name]
        with trusting([*(trust or ()), *named]):
            asked = changes.with_algorithms(changes.narrowed(study, only or ()), algorithm or ())
            with notes():
                found = plans.plan(asked, store, workers=workers, retry=retry)
            _print_plan(found)
        return
    asked = changes.with_algorithms(changes.narrowed(study, only or ()), algorithm or ())
    try:
        with notes():
            result = runs.run(
                asked,
                store,
                workers=workers,
                retry=retry,
                keep_predictions=keep_predictions,
                engine=engine,
                address=address,
                gpu_share=gpu_share,
                time_limit=time_limit,
                memory_limit=memory_limit,
            )
    except KeyboardInterrupt:
        warn("\nStopped. Finished cells are kept; run the same command to continue.")
        raise typer.Exit(130) from None
    _print_status(result)
    if result.failed:
        warn("To run the failed cells again, add --retry.")
        raise typer.Exit(1)


def status(
    study: Annotated[
        str | None,
        typer.Argument(help="Count only the cells of this study (a name or a YAML file)."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    logs: Annotated[
        bool,
        typer.Option("--logs", help="For every reason of failure, show the traceback of one cell."),
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Show the progress of the studies in a store.

    Counts the cells that are done, failed (with the reasons), missing or stale (run with another
    version of the code), and estimates the time left; in total, and for each study in the store.
    """
    from robustssl.execution import status as states

    found = states.status(store, study, trust or ())
    _print_status(found, study is not None)
    _print_uncounted(found.uncounted)
    for title, part in found.studies:
        say(f"{title}:\n  {_progress(part)}")
    for log in found.logs.values() if logs else ():
        warn(f"\n{log}")


def _print_plan(plan: Any) -> None:
    workers = "1 worker" if plan.workers == 1 else f"{plan.workers} workers"
    about = ""
    if plan.left and plan.seconds is None:
        about = "; how long that takes is not known yet"
    elif plan.left:
        about = f", about {duration(plan.seconds)} with {workers}"
    say(f"{plan.cells} cells: {plan.done} done, {plan.failed} failed, {plan.left} to run{about}.")
    if plan.baselines:
        say(f"Of these, baselines that come along: {', '.join(plan.baselines)}.")
    for problem in plan.problems:
        warn(f"A trial cell failed: {problem}")
    _print_uncounted(plan.uncounted)


def _print_uncounted(names: Sequence[str]) -> None:
    if names:
        options = " ".join(dict.fromkeys(f"--trust {name.partition(':')[0]}" for name in names))
        warn(f"Not counted: {', '.join(names)}. To import and count this code, add {options}.")


def _print_status(status: Any, of_a_study: bool = True) -> None:
    say(_progress(status, of_a_study))
    for reason, count in status.failures.items():
        warn(f"  {count} failed: {reason}")


def _progress(status: Any, of_a_study: bool = True) -> str:
    stale = f", {status.stale} stale (run with another version)" if status.stale else ""
    left = f", about {duration(status.left)} left" if status.missing and status.left else ""
    missing = f", {status.missing} missing" if of_a_study else ""
    return (
        f"{status.cells} cells: {status.done} done, {status.failed} failed{missing}{stale}; "
        f"{duration(status.seconds)} of computation{left}."
    )
