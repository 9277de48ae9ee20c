"""Send the requests of a list for some seconds, by wrk or, without it, by `benchmarks.load.sender`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Sends the lines of a file, each a path and a body, from the first on, and again.
_SCRIPT = """
local requests, at, keys = {}, 0, "%s"
init = function()
  wrk.headers["Content-Type"] = "application/json"
  for line in io.lines("%s") do
    local path, body = line:match("^(%%S+) (.*)$")
    if keys ~= "" then wrk.headers["Idempotency-Key"] = keys .. #requests end
    requests[#requests + 1] = wrk.format("POST", path, nil, body)
  end
end
request = function()
  at = at %% #requests + 1
  return requests[at]
end
done = function(summary, latency)
  local bad = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
  print(string.format('{"requests": %%d, "seconds": %%f, "bad": %%d, "p50": %%f, "p99": %%f}', summary.requests,
    summary.duration / 1e6, bad, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6))
end
"""


@dataclass(frozen=True)
class Load:
    """How some requests went; times in seconds."""

    requests: int
    seconds: float
    bad: int
    p50: float
    p99: float
    #: Cores that our own sender took; 0 of wrk.
    sender: float = 0.0


def send(
    port: int, requests: Sequence[str], folder: Path, *, connections: int, seconds: int, keyed: bool = False
) -> Load:
    """Send requests, each a path and a body in one line, over so many connections at a time.

    With ``keyed`` each has an idempotency key that was not used before, as those of our client have.
    """
    bodies, script = folder / "requests.txt", folder / "requests.lua"
    bodies.write_text("\n".join(requests) + "\n")
    keys = f"{uuid.uuid4().hex}-" if keyed else ""
    if shutil.which("wrk") is None:
        given = [str(port), str(bodies), str(connections), str(seconds), keys]
        command = [sys.executable, "-m", "benchmarks.load.sender", *given]
    else:
        script.write_text(_SCRIPT % (keys, bodies))
        options = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", str(script)]
        command = ["wrk", *options, f"http://127.0.0.1:{port}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    load = Load(**json.loads(told.splitlines()[-1]))
    if load.bad:
        raise RuntimeError(f"{load.bad:,} of {load.requests:,} requests were refused or failed")
    return load
