// Asks for the page again as inputs change, and shows what is new of it. Without it, press Show.
"use strict";
(() => {
  const PATIENCE = 250; // ms without a change
  const form = document.querySelector("form");
  const find = (id) => document.getElementById(id);
  let timer = 0, busy = false, again = false;

  const query = () => new URLSearchParams(
    [...new FormData(form)].filter(([key, value]) => value.trim() || key === "target"));

  function later(wait) {
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
  }

  async function ask() {
    if (busy) { again = true; return; }
    busy = true;
    find("results").setAttribute("aria-busy", "true");
    find("status").textContent = "computing …";
    try {
      const answer = await fetch("?" + query());
      if (answer.status === 503) { again = true; } else if (!answer.ok) {
        throw new Error(await answer.text());
      } else {
        show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      }
    } catch (error) {
      find("status").textContent = error instanceof TypeError
        ? "Nobody answers: has exactdp explore ended?" : error.message;
      find("results").removeAttribute("aria-busy");
    }
    busy = false;
    if (again) { again = false; later(PATIENCE); }
  }

  function show(page) {
    const of = (id) => page.getElementById(id);
    if (of("was").value !== find("was").value) {
      for (const id of ["was", "keys", "name-says"]) find(id).replaceWith(of(id));
    } else {
      for (const error of page.querySelectorAll(".input .error")) {
        find(error.id).textContent = error.textContent;
        const input = find(error.id.replace(/-error$/, ""));
        if (error.textContent) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    }
    find("status").replaceChildren(...of("status").childNodes);
    find("results").removeAttribute("aria-busy");
    find("results").classList.toggle("old", of("address") === null); // what was known stays, paler
    if (of("address") === null) return;
    find("results").replaceWith(of("results"));
    document.title = page.title;
    history.replaceState(null, "", find("address").getAttribute("href"));
    copied();
  }

  function copied() {
    for (const button of document.querySelectorAll("[data-copies]")) {
      button.hidden = false;
      button.onclick = async () => {
        const line = find(button.dataset.copies);
        line.select();
        try { await navigator.clipboard.writeText(line.value); button.textContent = "Copied"; }
        catch { /* it is selected: the keyboard copies it */ }
      };
    }
  }

  // One unit of the last digit more or less, exactly as text; never 0 or less of what is above 0.
  function stepped(text, by, finer) {
    const parts = /^(\d+)(?:\.(\d*))?(e[+-]?\d+)?$/.exec(text);
    if (!parts || text.length > 40) return null;
    let digits = parts[1] + (parts[2] || "") + (finer ? "0" : ""), places = digits.length - parts[1].length;
    if (BigInt(digits) + BigInt(by) <= 0n) { digits += "0"; places += 1; }
    const found = (BigInt(digits) + BigInt(by)).toString().padStart(places + 1, "0");
    const at = found.length - places;
    return found.slice(0, at) + (places ? "." + found.slice(at) : "") + (parts[3] || "");
  }

  form.addEventListener("input", () => later(PATIENCE));
  form.addEventListener("submit", (event) => { event.preventDefault(); later(0); });
  form.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by || !(event.target instanceof HTMLInputElement)) return;
    const next = stepped(event.target.value.trim() || event.target.placeholder, by, event.shiftKey);
    if (next === null) return;
    event.preventDefault();
    event.target.value = next;
    later(PATIENCE);
  });
  copied();
})();
