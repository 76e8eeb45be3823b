// Hands certificates to the checker, one at a time, and shows in words what it says of them.
"use strict";
(() => {
  const SECONDS = 120, MOST_FILES = 200, MOST_BYTES = 20_000_000; // as the checker's own limit
  const find = (id) => document.getElementById(id);
  const say = (text) => { find("status").textContent = text; };
  let worker = null, queue = [], current = null, timer = 0, loaded = false;

  // By way of a blob: such a worker is under this page's policy, whoever serves its file.
  function start() {
    const module = new URL("worker.mjs", location.href).href;
    const source = new Blob([`import ${JSON.stringify(module)};`], { type: "text/javascript" });
    worker = new Worker(URL.createObjectURL(source), { type: "module" });
    worker.onmessage = ({ data }) => (data.ready ? ready() : done(data));
    worker.onerror = (event) => {
      if (loaded && current) ended("the checker ended");
      else say(`The checker was not loaded: ${event.message || "is this page served over http?"}`);
    };
  }

  function ready() {
    loaded = true;
    find("files").disabled = false;
    say("Ready. Nothing more is loaded.");
    next();
  }

  function next() {
    if (current || !loaded || !queue.length) return;
    current = queue.shift();
    say(`checking ${current.name} …`);
    timer = setTimeout(() => ended("it takes too long here"), 1000 * SECONDS);
    worker.postMessage({ bytes: current.bytes, words: current.words });
  }

  function done({ code, out, err }) {
    clearTimeout(timer);
    let result;
    try {
      result = JSON.parse(out)[0];
    } catch {
      const reason = err.trim().split("\n").pop() || "the checker ended";
      result = { state: code === 2 ? "not checked" : "undecided", reason };
    }
    show(current.item, result);
    current = null;
    say(queue.length ? `${queue.length} more` : "Ready. Nothing more is loaded.");
    next();
  }

  // What is known stays; a new checker goes on with the rest.
  function ended(why) {
    clearTimeout(timer);
    worker.terminate();
    show(current.item, { state: "undecided", reason: why });
    [current, loaded] = [null, false];
    say("starting the checker again …");
    start();
  }

  function show(item, { state, reason, says = [] }) {
    item.replaceChildren(item.firstElementChild);
    const verdict = document.createElement("p");
    verdict.className = state.replaceAll(" ", "-");
    verdict.textContent = state;
    const why = document.createElement("p");
    why.textContent = reason;
    item.append(verdict, why);
    if (!says.length) return;
    const words = document.createElement("p");
    words.textContent = state === "valid" ? "What is proved:" : "What it says, and nothing proves:";
    const list = document.createElement("ul");
    for (const line of says) {
      const point = document.createElement("li");
      point.textContent = line;
      list.append(point);
    }
    item.append(words, list);
  }

  async function take(files) {
    const words = ["expect", "claim"].flatMap((key) => {
      const text = find(key).value.trim();
      return text ? [`--${key}=${text}`] : [];
    });
    for (const file of [...files].slice(0, MOST_FILES)) {
      const item = document.createElement("article"), title = document.createElement("h2");
      title.textContent = file.name;
      item.append(title);
      find("results").prepend(item);
      if (file.size > MOST_BYTES) {
        show(item, { state: "not a certificate", reason: `it is larger than ${MOST_BYTES} bytes` });
      } else {
        queue.push({ name: file.name, bytes: await file.arrayBuffer(), words, item });
      }
    }
    if (files.length > MOST_FILES) say(`only the first ${MOST_FILES} files are checked`);
    next();
  }

  // All files of what was dropped, folders included; of those only .json.
  async function dropped(transfer) {
    const entries = [...transfer.items].map((each) => each.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((each) => each.isDirectory)) return [...transfer.files];
    const found = [];
    while (entries.length && found.length <= MOST_FILES) {
      const entry = entries.shift();
      if (entry.isFile) {
        if (entry.name.endsWith(".json")) found.push(await new Promise((yes, no) => entry.file(yes, no)));
      } else {
        const reader = entry.createReader();
        for (let more; (more = await new Promise((yes, no) => reader.readEntries(yes, no))).length;) {
          entries.push(...more);
          if (entries.length > 10 * MOST_FILES) break;
        }
      }
    }
    return found;
  }

  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (loaded) dropped(event.dataTransfer).then(take, (error) => say(error.message));
  });
  find("files").addEventListener("change", (event) => {
    const files = [...event.target.files];
    event.target.value = ""; // the same file may be chosen again
    take(files);
  });
  document.forms[0].addEventListener("submit", (event) => event.preventDefault());
  start();
})();
