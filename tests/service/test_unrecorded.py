"""``--predict-when-full``: rows are predicted while the journal cannot be written, and nothing counts on them."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.in_process import state_of, teach, with_service
from tests.waiting import wait_until
from thalweg.errors import JournalError
from thalweg.service.commands import Refused
from thalweg.service.options import ServeOptions
from thalweg.service.service import Service


@pytest.fixture
def full(monkeypatch):
    """Fills the disk of a service."""

    def fill(service: Service) -> None:
        def refuse(*arguments: object) -> None:
            raise JournalError("the journal cannot be used: No space left on device")

        monkeypatch.setattr(service.models.writer.journal, "write", refuse)
        monkeypatch.setattr(service.models.writer.journal, "probe", refuse)

    return fill


@pytest.mark.quick(1)
@pytest.mark.parametrize("asked", [True, False])
def test_rows_are_predicted_without_being_recorded_if_the_option_says_so(tmp_path, monkeypatch, full, asked):
    async def scenario(service: Service) -> None:
        await teach(service, *"abababab")
        encoder = service.models.by_name["default"].encoder.to_json()
        full(service)
        if asked:
            done = await service.predict("default", [{"x": 1.0}], must_record=False)  # this one meets the failure
            again = await service.predict("default", [{"x": 1.0}, {"x": None}], must_record=False)
            assert (done.recorded, again.recorded, service.unrecorded, service.ready) == (False, False, True, True)
            answers = again.response.predictions(again.seq)
            assert answers[0].prediction in ("a", "b")
            assert [each.id for each in answers] == ["0-0", "0-1"]  # ids that no row has
            assert service.counters()["unrecorded_rows_total"] == 3
            with pytest.raises(Refused, match="no such column"):
                await service.predict("default", [{"y": 1.0}], must_record=False)
        for must_record in (True,) if asked else (True, False):  # streams that are read go on later
            with pytest.raises(Refused, match="the journal"):
                await service.predict("default", [{"x": 1.0}], must_record=must_record)
        monkeypatch.undo()
        await asyncio.to_thread(wait_until, lambda: service.writable)
        assert service.models.by_name["default"].encoder.to_json() == encoder
        assert await teach(service, "a", "b") == 2

    with_service(tmp_path, scenario, ServeOptions(predict_when_full=asked))
    assert state_of(tmp_path) == state_of(tmp_path, from_snapshots=False)


@pytest.mark.slow
def test_a_service_predicts_while_its_disk_takes_no_more(start):
    import resource

    from tests.service.test_faults import limit

    server = start("--new", "oldc", "--predict-when-full")
    client = server.client()
    row = {"row": {"x": 1.0}}
    recorded = client.post("/v1/predict", row)["predictions"][0]["id"]
    limit(server, 0)
    wait_until(lambda: client.get("/readyz")["status"] == "predictions are not recorded")
    found = client.post("/v1/predict", row, idempotency_key="k")
    assert (found["recorded"], found["predictions"][0]["id"]) == (False, "0-0")
    labelled = {"labels": [{"id": recorded, "label": "a"}]}
    assert client.call("POST", "/v1/label", labelled)[0] == 503
    limit(server, resource.RLIM_INFINITY)
    wait_until(lambda: client.get("/readyz")["status"] == "ready")
    assert client.post("/v1/predict", row, idempotency_key="k").get("recorded", True)
    assert client.post("/v1/label", labelled)["learned"] == 1
