"""A paper's numbers from a Dask cluster of separate processes are those of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.cli.calls import run
from tests.waiting import PATIENCE, wait_until

from thalweg.errors import InvalidParameter, MissingExtra, ServiceUnreachable
from thalweg.papers.study import dask_cluster, run_all, run_each


@contextmanager
def processes(folder: Path, workers: int):
    """A scheduler and workers as a user starts them, all of them connected; gives the scheduler's address."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    told = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    dask = [sys.executable, "-m", "dask"]
    where = ["--scheduler-file", str(told), "--no-dashboard"]
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *where]
    worker = [*dask, "worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", *where]
    begun = [subprocess.Popen(command, **quiet) for command in [scheduler, *[worker] * workers]]
    try:
        wait_until(lambda: told.exists() and told.read_text().endswith("}"))
        address = json.loads(told.read_text())["address"]
        if workers:
            with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
                client.wait_for_workers(workers, timeout=PATIENCE)
        yield address
    finally:
        for process in begun:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("cluster"), workers=2) as address:
        yield address


@pytest.mark.slow
def test_tasks_run_elsewhere_and_are_told_by_number(address):
    told: list[float] = []
    with dask_cluster(address, PATIENCE) as workers:
        assert run_all([partial(pow, number, 2) for number in range(5)], workers, told.append) == [0, 1, 4, 9, 16]
        elsewhere = {process for _, process in run_each([os.getpid] * 8, workers, lambda share: None)}
        with pytest.raises(ZeroDivisionError):
            run_all([lambda: 1 // 0], workers, told.append)
        with pytest.raises(TypeError, match="cannot pickle"):
            run_all([threading.Lock().acquire], workers, told.append)
    assert told == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert os.getpid() not in elsewhere
    assert run_all([os.getpid], 1, told.append) == [os.getpid()]


@pytest.mark.slow
def test_a_single_worker_is_elsewhere_too(tmp_path):
    with processes(tmp_path, workers=1) as address, dask_cluster(address, PATIENCE) as workers:
        assert workers == 1
        assert os.getpid() not in run_all([os.getpid] * 3, workers, lambda share: None)


@pytest.mark.slow
def test_a_paper_reproduced_on_a_cluster_gives_the_same_numbers(address, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("thalweg.papers.study.dask_cluster", partial(dask_cluster, patience=PATIENCE))
    rows = {}
    for name, how in {"here": ["--jobs", "1"], "there": ["--dask", address]}.items():
        path = tmp_path / f"{name}.json"
        options = ["--runs", "2", "--out", str(tmp_path), "--json", str(path), *how]
        code, _, err = run(capsys, "reproduce", "wusnell2016", "facts", *options)
        assert (code, "100 %" in err) == (0, True), err
        rows[name] = json.loads(path.read_text())
    assert rows["here"] == rows["there"]


@pytest.mark.slow
def test_a_scheduler_without_workers_is_named(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    wait_for_workers = distributed.Client.wait_for_workers

    def impatient(client, n_workers, timeout):
        return wait_for_workers(client, n_workers, timeout=0.1)

    monkeypatch.setattr(distributed.Client, "wait_for_workers", impatient)
    with (
        processes(tmp_path, workers=0) as empty,
        pytest.raises(ServiceUnreachable, match=f"the Dask scheduler at {empty} has no worker"),
        dask_cluster(empty, PATIENCE),
    ):
        pass


@pytest.mark.slow
def test_an_address_where_nobody_listens_is_named(capsys):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    code, out, err = run(capsys, "reproduce", "kuncheva2008", "--dask", "tcp://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert err == "thalweg: no Dask scheduler answered at tcp://127.0.0.1:1: Connection refused\n"
    for nonsense in ("nonsense", "tcp://there", "there:port", ""):
        with pytest.raises(InvalidParameter, match="--dask must be the address of a scheduler"), dask_cluster(nonsense):
            pass
    code, _, err = run(capsys, "reproduce", "kuncheva2008", "--dask", "there:8786", "--jobs", "2")
    assert code == 2
    assert "a Dask cluster has its own workers" in err


def test_without_the_extra_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingExtra, match=r"--dask needs distributed: pip install 'thalweg\[dask\]'"),
        dask_cluster("tcp://127.0.0.1:1"),
    ):
        pass
