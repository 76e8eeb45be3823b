// Python in the browser, and in it the standalone checker, as `make checker` builds it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const beside = (name) => new URL(name, import.meta.url).href;
const python = await loadPyodide({ indexURL: beside("./pyodide/") });
const archive = await (await fetch(beside("exactdp-check.pyz"))).arrayBuffer();
python.FS.writeFile("/exactdp-check.pyz", new Uint8Array(archive));
const run = python.runPython(`
import contextlib, io, sys
sys.path.insert(0, "/exactdp-check.pyz")
from exactdp.verify.checker.__main__ import main

def run(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words.to_py())
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()

run
`);
for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport"]) {
  self[name] = undefined; // nothing more is asked for
}

const DEEPEST = 100; // no certificate is nested so deeply; far deeper, and Python ends with its stack
const TOO_DEEP = JSON.stringify([
  { state: "not a certificate", reason: "not JSON: it is nested too deeply" }]);

function depth(bytes) {
  let now = 0, most = 0, quoted = false;
  for (let k = 0; k < bytes.length; k++) {
    const byte = bytes[k];
    if (quoted && byte === 0x5c) k++; // a backslash, and what it escapes
    else if (byte === 0x22) quoted = !quoted;
    else if (quoted) continue;
    else if (byte === 0x5b || byte === 0x7b) most = Math.max(most, ++now);
    else if (byte === 0x5d || byte === 0x7d) now--;
  }
  return most;
}

self.onmessage = ({ data }) => {
  if (depth(new Uint8Array(data.bytes)) > DEEPEST) {
    self.postMessage({ code: 2, out: TOO_DEEP, err: "" });
    return;
  }
  python.FS.writeFile("/certificate.json", new Uint8Array(data.bytes));
  const [code, out, err] = run(["--json", "--time=60", ...data.words, "/certificate.json"]).toJs();
  self.postMessage({ code, out, err });
};
self.postMessage({ ready: true });
