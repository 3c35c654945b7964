"use strict";

// The page of a fault lab: what it was asked and what it plays. It looks again every
// second while it is seen, and shows whatever it is told as text, never as markup.

const everyMs = 1000;
const mostShown = 300;

const byId = (id) => document.getElementById(id);

// make builds an element; children are elements or texts.
function make(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children.filter((c) => c !== null && c !== ""));
  return e;
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error("status " + answer.status);
  return answer.json();
}

async function post(path, order) {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
}

function say(id, text, bad) {
  byId(id).textContent = text;
  byId(id).classList.toggle("bad", Boolean(bad));
}

// The catalogue.

const rows = new Map(); // by the names of their scripts

const words = (kind) => kind.replaceAll("_", " ");

function fillPicker(list) {
  const groups = new Map();
  for (const row of list) {
    if (row.names.length === 0) continue;
    for (const name of row.names) rows.set(name, row);
    if (!groups.has(row.kind)) groups.set(row.kind, []);
    groups.get(row.kind).push(row);
  }
  for (const [kind, members] of groups) {
    const group = make("optgroup");
    group.label = kind === "-" ? "no failure" : words(kind);
    if (kind !== "-") group.append(option("kind:" + kind, "every " + words(kind) + ", in turn"));
    for (const row of members) {
      for (const name of row.names) group.append(option("row:" + name, name + " · " + who(row) + " · " + faultOf(row) + statusOf(row)));
    }
    byId("row").append(group);
  }
}

function option(value, text) {
  const o = make("option", "", text);
  o.value = value;
  return o;
}

const who = (row) => (row.provider === "*" ? "anybody" : row.provider);
const statusOf = (row) => (/^\d+$/.test(row.status) ? " · " + row.status : "");
const rowOf = (step) => (step.startsWith("row:") ? rows.get(step.slice(4)) : undefined);

// Requests.

const items = new Map(); // by number: {request, item, parts}
let show = "all";

const plainSteps = ["answer", "slow", "tool", "echo"];

// stepWords says what a step does that is no row of the catalogue.
const stepWords = {
  answer: "an answer", slow: "a slow answer", tool: "a tool call", echo: "what was said",
  stall: "falls silent in mid-stream", cut: "the connection breaks in mid-stream", error: "an error event in mid-stream",
  end: "ends without its last event", malformed: "a frame that is not JSON", hang: "nothing is sent",
  refuse: "the connection breaks before an answer", empty: "200 with no body", html502: "a proxy's error page",
  401: "the key is not valid", 403: "not permitted", 404: "no such model", 429: "rate limited", 500: "a server error",
  502: "a bad gateway", 503: "unavailable", 504: "a gateway's time-out", 529: "overloaded",
};

// moodOf is what a request came to: good, fault, refused, or open while it is answered.
function moodOf(q) {
  if (q.refused) return "refused";
  if (!q.ended) return "open";
  return plainSteps.includes(q.step) ? "good" : "fault";
}

function showRequest(q) {
  let entry = items.get(q.number);
  if (!entry) {
    entry = newEntry(q);
    items.set(q.number, entry);
    byId("list").prepend(entry.item);
    offerModel(q.model);
  }
  entry.request = q;
  const { mark, what, status } = entry.parts;
  const mood = moodOf(q);
  entry.item.dataset.mood = mood;
  mark.className = "mark " + mood;
  status.className = "status " + mood;
  status.textContent = statusText(q);
  what.replaceChildren(...whatWasPlayed(q));
  entry.item.hidden = !isShown(entry);
}

function statusText(q) {
  if (q.status) return String(q.status) + (q.ended ? "" : " …");
  return q.ended ? "no HTTP" : "…";
}

function whatWasPlayed(q) {
  if (q.refused) return named("refused", q.refused);
  const row = rowOf(q.step);
  if (!row) return named(q.step, stepWords[q.step]);
  return named(q.step.slice(4), faultOf(row));
}

const named = (name, words) => [make("b", "", name), ...(words ? [make("span", "", " · " + words)] : [])];

// faultOf is a row in a few words.
function faultOf(row) {
  if (row.class.startsWith("(")) return row.class.slice(1, -1);
  const kind = row.kind === "-" ? "no failure" : words(row.kind);
  const finer = row.class.replace(row.kind + ".", "");
  return finer === row.kind ? kind : kind + " · " + words(finer).replaceAll(".", " ");
}

function newEntry(q) {
  const at = new Date(q.at);
  const time = make("time", "time", at.toLocaleTimeString([], { hour12: false }));
  time.dateTime = q.at;
  time.title = at.toLocaleString();
  const model = make("span", "model mono", q.model || "–");
  model.title = q.model;
  const parts = { mark: make("span", "mark"), what: make("span", "what"), status: make("span", "status") };
  const box = make("details", "", make("summary", "", parts.mark, time, make("span", "wire", q.wire), model, parts.what, parts.status));
  const entry = { request: q, item: make("li", "", box), parts };
  box.addEventListener("toggle", () => {
    if (!box.open) return;
    history.replaceState(null, "", "#" + q.number);
    openEntry(entry, box);
  });
  if (location.hash === "#" + q.number) box.open = true;
  return entry;
}

async function openEntry(entry, box) {
  box.querySelector(".inside")?.remove();
  const inside = make("div", "inside");
  box.append(inside);
  try {
    inside.replaceChildren(...describe(await get("/faultlab/requests/" + entry.request.number)));
  } catch {
    inside.append(make("p", "quiet", "This request is not remembered any more."));
  }
}

function describe(q) {
  const facts = make("dl", "facts");
  const fact = (name, text) => { if (text) facts.append(make("dt", "", name), make("dd", "", text)); };
  const row = rowOf(q.step);
  fact("Asked", q.method + " " + q.path);
  fact("Played", q.refused ? "nothing: it was refused" : q.step);
  fact("Because", q.refused);
  if (row) {
    fact("Fault", [faultOf(row), row.when].join(" · ") + statusOf(row));
    fact("Whose", who(row) + ", known from " + row.source);
    fact("A client should", row.rightAction);
    fact("Retryable", row.retryable);
  }
  fact("Took", q.ended ? took(q) : "not over yet");
  const headers = Object.entries(q.header || {}).sort().flatMap(([name, values]) => values.map((v) => name + ": " + v));
  return [
    facts,
    make("h3", "", "Request header"), make("pre", "", headers.join("\n")),
    make("h3", "", "Request body · " + size(q.bodyBytes)), make("pre", "", pretty(q.body || "")),
  ];
}

function took(q) {
  const ms = new Date(q.ended) - new Date(q.at);
  return ms < 1000 ? ms + " ms" : (ms / 1000).toFixed(1) + " s";
}

const size = (n) => (n < 1024 ? n + " bytes" : n < 1 << 20 ? (n / 1024).toFixed(1) + " KiB" : (n / (1 << 20)).toFixed(1) + " MiB");

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body || "(empty)";
  }
}

function isShown(entry) {
  const mood = moodOf(entry.request);
  return show === "all" || show === mood || (show === "fault" && mood === "open" && !plainSteps.includes(entry.request.step));
}

function prune(oldest, asked) {
  for (const [number, entry] of [...items].sort((a, b) => a[0] - b[0])) {
    if (number >= oldest && items.size <= mostShown) break;
    entry.item.remove();
    items.delete(number);
  }
  byId("nothing").hidden = asked > 0;
  byId("aside").classList.toggle("fresh", asked === 0);
  byId("list").hidden = asked === 0;
  byId("more").hidden = items.size >= asked;
  byId("more").textContent = "The newest " + items.size + " of " + asked + " are shown.";
}

const knownModels = new Set();

function offerModel(model) {
  if (!model || knownModels.has(model) || knownModels.size >= 100) return;
  knownModels.add(model);
  byId("models").append(option(model, model));
}

// Scripts and chaos.

let drawn = ""; // what is drawn of them

function showScripts(state) {
  const now = JSON.stringify([state.scripts, state.chaos]);
  if (now === drawn) return;
  drawn = now;
  const lines = state.scripts.map(scriptLine);
  if (lines.length === 0) lines.push(make("li", "", make("span", "quiet", "No script: only models that choose by their names are known.")));
  byId("scripts").replaceChildren(...lines);
  showChaos(state.chaos);
}

function scriptLine(s) {
  const drop = make("button", "text", "Take away");
  drop.type = "button";
  drop.ariaLabel = "Take away the script of " + (s.model || "all models");
  drop.addEventListener("click", () => order("said", "/faultlab/script", { model: s.model, script: "" }, () => "Taken away."));
  const steps = make("span", "steps", ...s.steps.map((name, i) => make("code", i === s.next ? "next" : "", name)));
  if (s.count > s.steps.length) steps.append(make("span", "quiet", "and " + (s.count - s.steps.length) + " more"));
  return make("li", "", make("span", "who", s.model || "All models"), drop, steps);
}

function showChaos(chaos) {
  byId("stop").hidden = !chaos;
  byId("start").textContent = chaos ? "Start again" : "Start";
  if (!chaos) return;
  const parts = [];
  if (chaos.rate) parts.push(Math.round(chaos.rate * 100) + " % of requests fail");
  if (chaos.every) parts.push("of every " + chaos.every + " requests the last fails");
  say("storm", parts.join(", and ") + " · " + ((chaos.rows || []).join(", ") || "all faults") + " · seed " + chaos.seed);
}

async function order(where, path, what, done) {
  try {
    say(where, done(await post(path, what)));
  } catch (e) {
    say(where, e.message, true);
  }
  look();
}

function addStep(step) {
  const field = byId("script");
  field.value = field.value.trim() ? field.value.trim().replace(/,$/, "") + ", " + step : step;
  field.focus();
}

function aboutRow(value) {
  const row = value.startsWith("row:") ? rows.get(value.slice(4)) : undefined;
  byId("about").hidden = !row;
  if (row) byId("about").textContent = value.slice(4) + ", " + row.when + ", on " + row.wires.join(", ") + ". A client should: " + row.rightAction;
}

// Where clients find the lab.

function showBases() {
  const here = location.origin;
  const bases = [
    ["Anthropic SDK, Claude Code", "ANTHROPIC_BASE_URL=" + here],
    ["OpenAI SDK", "OPENAI_BASE_URL=" + here + "/v1"],
    ["Google Gen AI SDK", "GOOGLE_GEMINI_BASE_URL=" + here],
  ];
  byId("bases").replaceChildren(...bases.map(([name, line]) => {
    const copy = make("button", "text", "Copy");
    copy.type = "button";
    copy.ariaLabel = "Copy the line for " + name;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText("export " + line);
      copy.textContent = "Copied";
    });
    return make("li", "", make("div", "row", make("span", "", name), copy), make("code", "", line));
  }));
}

// Looking again.

let epoch = "";
let version = 0;
let looking = false;

async function look() {
  if (looking) return;
  looking = true;
  try {
    let state = await get("/faultlab/state?since=" + version);
    if (state.epoch !== epoch) {
      items.forEach((entry) => entry.item.remove());
      items.clear();
      if (epoch) state = await get("/faultlab/state");
      epoch = state.epoch;
    }
    version = state.version;
    state.requests.slice(-mostShown).forEach(showRequest);
    showScripts(state);
    prune(state.oldest, state.asked);
    byId("pulse").className = "mark good";
    byId("live").textContent = "Live · " + (state.asked === 1 ? "1 request" : state.asked + " requests");
  } catch {
    byId("pulse").className = "mark refused";
    byId("live").textContent = "The lab does not answer. Is it still running?";
  }
  looking = false;
}

function start() {
  showBases();
  for (const step of ["echo", "429:2s", "503", "529", "401", "cut:It is", "stall:It is", "hang"]) {
    const chip = make("button", "", step);
    chip.type = "button";
    chip.addEventListener("click", () => addStep(step));
    byId("chips").append(chip);
  }
  byId("row").addEventListener("change", (e) => {
    const value = e.target.value;
    if (!value) return;
    addStep(value);
    aboutRow(value);
    e.target.value = "";
  });
  byId("play").addEventListener("submit", (e) => {
    e.preventDefault();
    const model = byId("model").value.trim();
    const script = byId("script").value.trim();
    if (!script) {
      say("said", "Write a script first, such as 429:2s, echo.", true);
      return;
    }
    order("said", "/faultlab/script", { model, script }, (said) =>
      "From now on " + (model || "all models") + ": " + said.steps.slice(0, 8).join(", ") + (said.steps.length > 8 ? ", …" : "") + ".");
  });
  byId("play").addEventListener("reset", () => { say("said", ""); aboutRow(""); });
  byId("chaos").addEventListener("submit", (e) => {
    e.preventDefault();
    order("storm", "/faultlab/chaos", {
      rate: Number(byId("rate").value) / 100, every: Number(byId("every").value), seed: Number(byId("seed").value),
      rows: byId("only").value.split(",").map((name) => name.trim()).filter(Boolean), models: [],
    }, () => { drawn = ""; return ""; });
  });
  byId("stop").addEventListener("click", () =>
    order("storm", "/faultlab/chaos", { rate: 0, every: 0, seed: 0, rows: [], models: [] }, () => ""));
  document.querySelectorAll("[data-show]").forEach((button) => button.addEventListener("click", () => {
    show = button.dataset.show;
    document.querySelectorAll("[data-show]").forEach((b) => { b.ariaPressed = String(b === button); });
    items.forEach((entry) => { entry.item.hidden = !isShown(entry); });
  }));
}

start();
get("/faultlab/rows").then(fillPicker).catch(() => {}).then(look);
setInterval(() => { if (!document.hidden) look(); }, everyMs);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
