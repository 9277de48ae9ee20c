"""The Open Inference Protocol and MLflow's scoring: the same predictions as ours, also by their own clients."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from tests.service.rows import SCHEMA, stream
from tests.service.server import JSON


@pytest.fixture(scope="module")
def river(common):
    """A model that has learned, another without columns, and one of numbers."""
    client = common.client()
    client.post("/v1/models", {"name": "river", "kind": "oldc", "schema": SCHEMA})
    client.post("/v1/models", {"name": "new", "kind": "oldc"})
    numbers = [{"name": name, "kind": "number"} for name in ("a", "b")]
    client.post("/v1/models", {"name": "load", "kind": "auto", "task": "regression", "schema": {"columns": numbers}})
    rows, labels = stream(60)
    asked = client.predict(rows, model="river")
    client.label([(each["id"], label) for each, label in zip(asked, labels, strict=True)], model="river")
    asked = client.predict([{"a": float(i), "b": 1.0} for i in range(30)], model="load")
    client.label([(each["id"], 2.0 * i) for i, each in enumerate(asked)], model="load")
    yield rows[1:6]  # without gaps, which are filled by what came before
    client.close()


def tensor(name, values, datatype="BYTES"):
    return {"name": name, "shape": [len(values)], "datatype": datatype, "data": values}


def by_column(rows):
    return [
        tensor(name, [row[name] for row in rows], "FP64" if name in ("level", "rain") else "BYTES") for name in rows[0]
    ]


def binary(name, array, datatype):
    """A tensor as Triton's client sends it, and its bytes."""
    texts = (struct.pack("<I", len(each)) + each for each in (str(value).encode() for value in array.ravel()))
    content = b"".join(texts) if datatype == "BYTES" else array.tobytes()
    head = {"name": name, "shape": list(array.shape), "datatype": datatype}
    return head | {"parameters": {"binary_data_size": len(content)}}, content


def test_tensors_are_predicted_as_our_own_rows_are(client, river):
    own = client.predict(river, model="river")
    found = client.post("/v2/models/river/infer", {"id": "7", "inputs": by_column(river)})
    assert (found["model_name"], found["id"]) == ("river", "7")
    outputs = {each["name"]: each for each in found["outputs"]}
    assert outputs["prediction"]["data"] == [each["prediction"] for each in own]
    labels = outputs["probabilities"]["parameters"]["labels"]
    likely = np.reshape(outputs["probabilities"]["data"], outputs["probabilities"]["shape"])
    assert likely.tolist() == [[each["probabilities"][label] for label in labels] for each in own]
    assert client.label([(outputs["id"]["data"][0], "low")], model="river")["learned"] == 1
    only = client.post("/v2/models/river/infer", {"inputs": by_column(river), "outputs": [{"name": "prediction"}]})
    assert [each["name"] for each in only["outputs"]] == ["prediction"]
    # One tensor with all columns, flat, nested and in binary.
    numbers = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = [{"a": a, "b": b} for a, b in numbers.tolist()]
    expected = [each["prediction"] for each in client.predict(rows, model="load")]
    for data in ([1, 2, 3, 4, 5, 6], [[1, 2], [3, 4], [5, 6]]):
        given = {"name": "x", "shape": [3, 2], "datatype": "FP64", "data": data}
        outputs = client.post("/v2/models/load/infer", {"inputs": [given]})["outputs"]
        assert [each["name"] for each in outputs] == ["id", "prediction", "lower", "upper"]
        assert outputs[1]["data"] == expected
    head, content = binary("x", numbers, "FP64")
    text = json.dumps({"inputs": [head]}).encode()
    told = client.post(
        "/v2/models/load/infer", text + content, inference_header_content_length=str(len(text)), media=JSON
    )
    assert told["outputs"][1]["data"] == expected
    numbers[1, 0] = np.nan
    head, content = binary("x", numbers, "FP64")
    told = client.post("/v2/models/load/infer", text + content, inference_header_content_length=str(len(text)))
    assert [told["outputs"][1]["data"][at] for at in (0, 2)] == [expected[0], expected[2]]
    winds = np.array([row["wind"] for row in river])
    head, content = binary("wind", winds, "BYTES")
    text = json.dumps({"inputs": [head]}).encode()
    told = client.post("/v2/models/river/infer", text + content, inference_header_content_length=str(len(text)))
    own = client.predict([{"wind": wind} for wind in winds.tolist()], model="river")
    assert told["outputs"][1]["data"] == [each["prediction"] for each in own]


def test_a_model_says_what_its_tensors_are(client, river):
    assert client.get("/v2")["name"] == "thalweg"
    assert client.get("/v2/health/live") == {"live": True}
    assert client.get("/v2/health/ready") == client.get("/v2/models/river/ready") == {"ready": True}
    found = client.get("/v2/models/river")
    kinds = [(each["name"], each["datatype"]) for each in found["inputs"]]
    assert kinds == [("level", "FP64"), ("rain", "FP64"), ("wind", "BYTES"), ("when", "BYTES")]
    assert [each["shape"] for each in found["outputs"]] == [[-1], [-1], [-1, 3]]
    assert [each["name"] for each in client.get("/v2/models/load")["outputs"]] == ["id", "prediction", "lower", "upper"]
    assert client.call("GET", "/v2/models/nobody")[0] == 404


def test_mlflow_takes_rows_in_all_its_forms(client, river):
    assert client.call("GET", "/ping")[0] == 200
    own = [each["prediction"] for each in client.predict(river, model="river")]
    columns = list(river[0])
    lists = [list(row.values()) for row in river]
    for form in (
        {"dataframe_split": {"columns": columns[::-1], "index": [0, 1, 2, 3, 4], "data": [row[::-1] for row in lists]}},
        {"dataframe_records": river},
        {"instances": river},
        {"instances": lists},
        {"inputs": lists},
        {"inputs": {name: [row[name] for row in river] for name in columns}},
    ):
        assert client.post("/invocations?model=river", form)["predictions"] == own
        found = client.post("/invocations", form | {"params": {"model": "river"}})
        assert found["predictions"] == own
    assert client.label([(found["ids"][0], "low")], model="river")["learned"] == 1
    assert client.post("/invocations", {"instances": [{"x": 1.0}], "params": {"model": "new"}})["predictions"] == [None]


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("/v2/models/river/infer", {}, 422, "inputs must be a list"),
        ("/v2/models/river/infer", {"inputs": [{"name": "x"}]}, 422, "input 0: it must be an object"),
        ("/v2/models/river/infer", {"inputs": []}, 422, "inputs must be a list"),
        ("/v2/models/river/infer", {"inputs": [tensor("rain", [1.0], "FP8")]}, 422, "input 'rain': the datatype"),
        ("/v2/models/river/infer", {"inputs": [tensor("rain", [], "FP64")]}, 422, "input 'rain': the shape"),
        (
            "/v2/models/river/infer",
            {"inputs": [tensor("rain", [1.0], "FP64") | {"shape": [2]}]},
            422,
            "input 'rain': a",
        ),
        ("/v2/models/river/infer", {"inputs": [tensor("rain", [1.0, 2.0]), tensor("wind", ["n"])]}, 422, "all inputs"),
        ("/v2/models/river/infer", {"inputs": [tensor("rain", ["wet"])]}, 422, "row 0, column 'rain'"),
        ("/v2/models/river/infer", {"inputs": [tensor("x", [1.0])]}, 422, "row 0: it must have 4 values"),
        ("/v2/models/river/infer", {"inputs": [tensor("rain", [1.0])], "outputs": [{"name": "y"}]}, 422, "there is no"),
        ("/v2/models/nobody/infer", {"inputs": [tensor("rain", [1.0])]}, 404, "there is no model"),
        ("/invocations?model=river", {}, 422, "there must be one of"),
        ("/invocations?model=river", {"instances": [[1.0]]}, 422, "row 0: it must have 4 values"),
        ("/invocations?model=river", {"instances": []}, 422, "a request must have 1 to"),
        ("/invocations?model=river", {"inputs": {"rain": [1.0], "wind": []}}, 422, "inputs by column"),
        ("/invocations?model=river", {"dataframe_split": {"columns": ["rain"], "data": [[1, 2]]}}, 422, "row 0: it"),
        ("/invocations?model=nobody", {"instances": [[1.0]]}, 404, "there is no model"),
        ("/invocations", {"instances": [[1.0]], "params": {"model": 7}}, 422, "the model must be a name"),
    ],
)
def test_what_does_not_fit_is_refused(client, river, path, body, status, told):
    found = client.call("POST", path, body)
    assert (found[0], found[1]["error"][: len(told)]) == (status, told)


def test_rows_without_names_need_a_model_with_columns(client, river):
    client.post("/v1/models", {"name": "bare", "kind": "oldc"})
    status, answer, _ = client.call("POST", "/invocations", {"instances": [[1.0]], "params": {"model": "bare"}})
    assert (status, "does not know its columns" in answer["error"]) == (409, True)
    wrong = b'{"inputs": [{"name": "a", "shape": [1], "datatype": "FP64", "parameters": {"binary_data_size": 9}}]}'
    for length in (str(len(wrong)), "x", str(10**6)):
        status, _, _ = client.call("POST", "/v2/models/bare/infer", wrong, inference_header_content_length=length)
        assert status == 422


def test_the_client_of_triton(common, client, river):
    http = pytest.importorskip("tritonclient.http", reason="the client of Triton is not installed")
    triton = http.InferenceServerClient(f"127.0.0.1:{common.port}")
    try:
        assert triton.is_server_live()
        assert triton.is_server_ready()
        assert triton.is_model_ready("river")
        assert triton.get_server_metadata()["extensions"] == ["binary_tensor_data"]
        assert [each["name"] for each in triton.get_model_metadata("load")["inputs"]] == ["a", "b"]
        numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
        rows = [{"a": a, "b": b} for a, b in numbers.tolist()]
        expected = [each["prediction"] for each in client.predict(rows, model="load")]
        for in_binary in (True, False):
            given = http.InferInput("x", [2, 2], "FP64")
            given.set_data_from_numpy(numbers, binary_data=in_binary)
            found = triton.infer("load", [given], request_id="9")
            assert found.as_numpy("prediction").tolist() == expected
            wind = http.InferInput("wind", [1], "BYTES")
            wind.set_data_from_numpy(np.array(["north"], dtype=object), binary_data=in_binary)
            found = triton.infer("river", [wind], outputs=[http.InferRequestedOutput("prediction")])
            [own] = client.predict([{"wind": "north"}], model="river")
            assert found.as_numpy("prediction").tolist() == [own["prediction"]]
        with pytest.raises(Exception, match="there is no model"):
            triton.infer("nobody", [wind])
    finally:
        triton.close()


def test_the_client_of_mlflow(common, client, river):
    scoring = pytest.importorskip("mlflow.pyfunc.scoring_server.client", reason="MLflow is not installed")
    pd = pytest.importorskip("pandas")
    mlflow = scoring.ScoringServerClient("127.0.0.1", common.port)
    mlflow.ping()
    own = [each["prediction"] for each in client.predict(river, model="river")]
    found = mlflow.invoke(pd.DataFrame(river), params={"model": "river"})
    assert found.get_predictions()[0].tolist() == own
    numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = [each["prediction"] for each in client.predict([{"a": 1, "b": 2}, {"a": 3, "b": 4}], model="load")]
    found = mlflow.invoke(numbers, params={"model": "load"})
    assert found.get_predictions("ndarray").tolist() == expected
