from robustssl.analysis.curve import Curve as Curve
from robustssl.analysis.table import metrics as metrics
from robustssl.audits import audit as audit
from robustssl.audits import decide as decide
from robustssl.audits import load_model as load_model
from robustssl.cell import Cell as Cell
from robustssl.data import Dataset as Dataset
from robustssl.data import Split as Split
from robustssl.errors import InputError as InputError
from robustssl.execution.plan import plan as plan
from robustssl.execution.run import run as run
from robustssl.execution.status import status as status
from robustssl.records.files import export as export
from robustssl.records.files import load as load
from robustssl.records.files import merge as merge
from robustssl.records.record import Record as Record
from robustssl.records.store import Store as Store
from robustssl.registry import algorithm as algorithm
from robustssl.registry import catalog as catalog
from robustssl.registry import dataset as dataset
from robustssl.registry import environment as environment
from robustssl.registry import estimator as estimator
from robustssl.reports import curves as curves
from robustssl.reports import report as report
from robustssl.sites import site as site
from robustssl.studies.study import Study as Study

__version__: str
