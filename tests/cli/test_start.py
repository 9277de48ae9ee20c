"""A command starts without what it does not use, and nobody who uses it later notices."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LATER = """
import sys
from thalweg.cli.terminal import load_scikit_learn

load_scikit_learn()
assert "sklearn.base" in sys.modules
later = {"scipy.stats", "numpy.f2py", "numpy.polynomial", "numpy.testing", "scipy._lib._docscrape"}
assert not later & set(sys.modules)
import numpy

assert callable(numpy.f2py.get_include) and callable(numpy.testing.assert_equal) and numpy.polynomial.Polynomial
import scipy
from scipy.linalg import inv

assert "Compute the inverse" in inv.__doc__ and "error function" in scipy.special.erf.__doc__
from sklearn.utils.fixes import _mode

assert _mode([1, 2, 2]).mode == 2
from scipy import stats

assert stats is scipy.stats is sys.modules["scipy.stats"]
assert abs(stats.norm.cdf(0.0) - 0.5) < 1e-12
load_scikit_learn()
assert sys.modules["scipy.stats"] is stats
"""

HELP = """
import sys
from thalweg.cli import main

for arguments in (["--help"], ["run", "--help"], ["run", "--delay", "-1"]):
    try:
        main(arguments)
    except SystemExit:
        pass
print({"numpy", "sklearn"} & set(sys.modules))
"""

RUN = """
import sys
from thalweg.cli import main

try:
    main(["run", "rows.csv", "--target", "label", "--quiet"])
except SystemExit as end:
    assert end.code == 0
print("scipy.stats" in sys.modules)
"""


ALONE = """
import atexit
import gc
import sys
from thalweg.cli import main

sys.argv = ["thalweg", "run", "rows.csv", "--target", "label", "--quiet", "--out", "alone"]
atexit.register(lambda: print("pandas" in sys.modules, gc.isenabled()))
main()
"""


SERVE = """
import atexit
import sys
from thalweg.cli import main

sys.argv = ["thalweg", "serve", "--listen", "127.0.0.1:0", "--data", "served"]
atexit.register(lambda: print({"pandas", "scipy.stats"} & set(sys.modules)))
main()
"""


def output(code, **options):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, **options).stdout


def test_statistics_come_when_they_are_used():
    assert output(LATER) == ""


def test_a_run_does_without_them_and_in_a_process_of_its_own_without_pandas(tmp_path):
    pytest.importorskip("pandas")
    rows = "".join(f"{i % 7},{'ab'[i % 7 > 3]}\n" for i in range(50))
    (tmp_path / "rows.csv").write_text("x,label\n" + rows)
    assert output(ALONE, cwd=tmp_path).splitlines()[-1] == "False True"
    assert output(RUN, cwd=tmp_path).splitlines()[-1] == "False"
    for name in ("predictions.csv", "model.thalweg"):
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "thalweg-run" / name).read_bytes()


def test_output_is_utf8_whatever_the_system_writes(tmp_path):
    (tmp_path / "données.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for encoding in ("cp1252", "ascii"):
        told = subprocess.run(
            [sys.executable, "-c", "from thalweg.cli import main; main()", "run", "données.csv", "--target", "цель"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        assert told.returncode == 2
        assert "données.csv has no column 'цель'" in told.stderr.decode("utf-8")


def test_help_and_a_refused_option_load_no_numerical_library():
    assert output(HELP).splitlines()[-1] == "set()"


def test_a_service_is_ready_without_them(tmp_path):
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-c", SERVE]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as service:
        assert "serves at" in service.stderr.readline()
        service.terminate()
        assert service.stdout.read() == "set()\n"
