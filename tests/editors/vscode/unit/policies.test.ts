import assert from "node:assert/strict";
import { test } from "node:test";
import { ABILITIES, COMMANDS, whyNot } from "../../../../editors/vscode/src/abilities";
import { Crashes } from "../../../../editors/vscode/src/crashes";
import { remembered } from "../../../../editors/vscode/src/history";
import { toggled } from "../../../../editors/vscode/src/languages";
import { Missed, type Place } from "../../../../editors/vscode/src/missed";
import { asModels, describedModel } from "../../../../editors/vscode/src/models";
import { ServerSection, type Setting } from "../../../../editors/vscode/src/server_section";
import { asServerStatus, NORMAL, statusText, type Shown } from "../../../../editors/vscode/src/status_text";

test("a server that ends again and again is waited for longer and longer, then left alone", () => {
  let now = 1_000;
  const crashes = new Crashes(() => now);
  const pauses = Array.from({ length: 6 }, () => {
    crashes.started();
    now += 100;
    return crashes.pauseBeforeRestart();
  });
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, undefined]);
  crashes.forget();
  assert.equal(crashes.pauseBeforeRestart(), 1_000);
});

test("a server that ran well for a while is started again at once", () => {
  let now = 1_000;
  const crashes = new Crashes(() => now);
  for (let time = 0; time < 20; time += 1) {
    crashes.started();
    now += 61_000;
    assert.equal(crashes.pauseBeforeRestart(), 1_000);
  }
});

test("what a server does not announce cannot be done, and it is said why", () => {
  assert.equal(whyNot("rewrite", undefined), "the server is not running");
  assert.equal(whyNot("rewrite", new Set(["midfill.didAccept"])), "this server cannot rewrite selections");
  assert.equal(whyNot("rewrite", new Set(["midfill.rewrite"])), "");
  for (const ability of ABILITIES) {
    assert.match(whyNot(ability, new Set()), /^this server cannot ./);
    assert.equal(whyNot(ability, new Set([COMMANDS[ability]])), "");
  }
});

const RUNNING: Shown = { life: "running", status: NORMAL, model: "pocket" };

test("the status bar shows state, model and the last latency", () => {
  const check = (shown: Partial<Shown>, text: string, tooltip: RegExp) => {
    const told = statusText({ ...RUNNING, ...shown });
    assert.equal(told.text, text);
    assert.match(told.tooltip, tooltip);
  };
  const kind = (one: "Warning" | "Error" | "Inactive", message: string) => ({ status: { ...NORMAL, kind: one, message } });
  check({}, "$(sparkle) pocket", /^midfill: ready\nmodel: pocket$/);
  check({ lastMs: 42 }, "$(sparkle) pocket", /last suggestion: 42 ms$/);
  check({ model: "/models/toy/" }, "$(sparkle) toy", /model: \/models\/toy\//);
  check({ status: { ...NORMAL, message: "loading pocket", busy: true } }, "$(loading~spin) pocket", /loading pocket/);
  check(kind("Error", "no weights"), "$(error) pocket", /no weights/);
  check(kind("Warning", "slow"), "$(warning) pocket", /slow/);
  check(kind("Inactive", "off in files that may hold secrets"), "$(circle-slash) pocket", /secrets/);
  check({ life: "starting" }, "$(loading~spin) midfill", /starting/);
  check({ life: "missing" }, "$(debug-disconnect) midfill", /set one up/);
  check({ life: "stopped", lastMs: 3 }, "$(debug-disconnect) midfill", /restart it\nmodel: pocket$/);
});

test("a strange status is taken as normal", () => {
  for (const raw of [undefined, null, 3, "x", [], {}, { kind: "Odd", message: 3, busy: "yes" }]) {
    assert.deepEqual(asServerStatus(raw), NORMAL);
  }
  assert.deepEqual(asServerStatus({ kind: "Error", message: "m", busy: false, more: 1 }), {
    kind: "Error",
    message: "m",
    busy: false,
  });
});

test("the server is told what is set, and null for what nobody has set", () => {
  const settings = new Map<string, Setting>([
    ["preset", { value: "toy", isSet: true }],
    ["mode", { value: "auto", isSet: false }],
  ]);
  const section = new ServerSection(() => settings);
  assert.deepEqual(section.initial(), { preset: "toy" });
  assert.deepEqual(section.current(), { preset: "toy", mode: null });
});

test("a setting that was set at the start and is unset is told as the default, not as nothing", () => {
  const settings = new Map<string, Setting>([["preset", { value: "toy", isSet: true }]]);
  const section = new ServerSection(() => settings);
  settings.set("preset", { value: "pocket", isSet: false });
  assert.deepEqual(section.current(), { preset: "pocket" });
});

test("instructions are remembered newest first, each once", () => {
  assert.deepEqual(remembered(["a", "b"], " b "), ["b", "a"]);
  assert.deepEqual(remembered(["a"], "  "), ["a"]);
  const many = Array.from({ length: 40 }, (_, index) => `${index}`).reduce(remembered, [] as string[]);
  assert.equal(many.length, 30);
  assert.equal(many[0], "39");
});

test("a language is turned off and on again", () => {
  assert.deepEqual(toggled([], "python"), ["python"]);
  assert.deepEqual(toggled(["python", "c"], "python"), ["c"]);
  assert.deepEqual(toggled(["python"], "c"), ["c", "python"]);
});

test("models are listed with what is known of them", () => {
  const models = asModels([{ name: "pocket", size: "30 MB", licence: "Apache-2.0", fit: "fits" }, { size: "1" }, 7, null]);
  assert.equal(models.length, 1);
  assert.deepEqual(describedModel(models[0]!, "pocket"), {
    label: "$(check) pocket",
    description: "30 MB · Apache-2.0",
    detail: "fits",
  });
  assert.deepEqual(asModels("nothing"), []);
});

test("who typed while the model was loaded is asked for when it is there, once, if they still wait", () => {
  const here: Place = { uri: "file:///a.py", version: 3, line: 1, character: 5 };
  const check = (isEmpty: boolean, isBusy: boolean, now: Place | undefined, expected: boolean) => {
    const missed = new Missed();
    missed.answered(here, isEmpty, isBusy);
    assert.equal(missed.isWaiting(now), expected);
    assert.equal(missed.isWaiting(now), false);
  };
  check(true, true, { ...here }, true);
  check(false, true, here, false);
  check(true, false, here, false);
  check(true, true, undefined, false);
  check(true, true, { ...here, version: 4 }, false);
  check(true, true, { ...here, uri: "file:///b.py" }, false);
  check(true, true, { ...here, character: 6 }, false);
});
