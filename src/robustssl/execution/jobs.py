"""Jobs: a fit on its way to records, with its model and the rows it is fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robustssl import registry
from robustssl.cell import Cell
from robustssl.execution.failures import failed_record
from robustssl.execution.folds import Fold, held_out
from robustssl.execution.groups import are_nets
from robustssl.records.extras import FOLDS, Extras
from robustssl.records.record import Record
from robustssl.splits import prepare


@dataclass(eq=False)
class Job:
    """A fit on its way to the records of the cells that it answers; `cell` is the first of them."""

    cells: Sequence[Cell]
    made_with: dict[str, Any]
    prepared: Any = None
    model: Any = None
    split: Any = None
    folds: list[Fold] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def cell(self) -> Cell:
        return self.cells[0]

    @property
    def problem(self) -> tuple[Any, Any]:
        return self.split.X, self.split.y

    @property
    def together(self) -> bool:
        return are_nets((self.cell,))

    def fail(self, error: BaseException) -> None:
        failure = failed_record(self.cell, error, self.made_with)
        self.records = [of_cell(failure, cell, len(self.cells)) for cell in self.cells]


def of_cell(record: Record, cell: Cell, count: int) -> Record:
    """The record of one of the cells that a fit answers; the digest is of the rows it saw."""
    known = {k: v for k, v in record.provenance.items() if k != "split_digest"}
    made_with = record.provenance if cell == record.cell else known
    return replace(record, cell=cell, seconds=record.seconds / count, provenance=made_with)


def prepare_job(job: Job, extras: Extras) -> None:
    """The model, and the rows it is fitted to; the same for each fold."""
    cell = job.cell
    job.prepared = prepare(cell.dataset, cell.environment, cell.labels, cell.seed)
    job.split = job.prepared.split(cell.t, views=job.together)
    job.model = _model(job)
    data = job.prepared.pools.data
    job.made_with["data"] = {"name": data.name, "kind": data.kind}
    job.made_with["dataset_sha256"] = registry.dataset(cell.dataset).sha256
    job.made_with["split_digest"] = job.split.digest
    if extras.criteria:
        masks = held_out(cell, job.split, job.prepared.pools)
        job.folds = [Fold(_model(job), job.split, mask) for mask in masks]
        job.made_with[FOLDS] = len(job.folds)


def _model(job: Job) -> Any:
    """A model that is not fitted. Models that are fitted together share their chance with those of
    other algorithms: start, labeled batches and views differ by the method alone.
    """
    cell = job.cell
    model = registry.estimator(cell.algorithm, **dict(cell.params))
    if "random_state" in model.get_params() and "random_state" not in dict(cell.params):
        named = replace(cell, dataset=job.prepared.pools.data.name)
        own = () if job.together else ("algorithm",)
        chance = named.rng(*own, "dataset", "labels", "seed").integers(2**31)
        model.set_params(random_state=int(chance))
    return model
