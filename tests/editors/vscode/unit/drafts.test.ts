import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, Drafts, few } from "../../../../editors/vscode/src/drafts";
import { optedIn } from "../../../../editors/vscode/src/opting_in";
import { asOutcome } from "../../../../editors/vscode/src/outcome";

const URI = "file:///a.py";
const range = { start: { line: 2, character: 4 }, end: { line: 3, character: 9 } };
const told = (token: string, texts: readonly string[], version = 1) => ({
  token,
  textDocument: { uri: URI, version },
  range,
  tokens: texts.map((text, index) => ({ text, isLocked: index === 0 })),
  isDone: false,
});
const done = (token: string) => ({ ...told(token, []), isDone: true });

test("a draft is drawn until it is done, each token by itself", () => {
  const drafts = new Drafts();
  assert.equal(drafts.told(told("a/0", ["x"])), URI);
  drafts.told(told("a/1", ["y"]));
  drafts.told(told("a/0", ["z"]));
  assert.deepEqual(drafts.of(URI, 1).map(({ tokens }) => tokens[0]?.text), ["z", "y"]);
  drafts.told(done("a/0"));
  drafts.told(done("a/1"));
  assert.deepEqual(drafts.of(URI, 1), []);
});

test("after an edit nothing is drawn, whatever comes late", () => {
  const drafts = new Drafts();
  drafts.told(told("a", ["x"]));
  drafts.forget(URI);
  assert.deepEqual(drafts.of(URI, 2), []);
  drafts.told(told("a", ["late"]));
  assert.deepEqual(drafts.of(URI, 2), []);
});

test("each line is drawn over its own, and what has none follows the last", () => {
  const drafts = new Drafts();
  drafts.told(told("a", ["one\ntw", "o\r\nthree", "\nfour"]));
  const [draft] = drafts.of(URI, 1);
  const lines = drawn(draft!);
  assert.deepEqual(lines.map(({ line }) => line), [2, 3]);
  assert.deepEqual(lines.map(({ pieces }) => pieces.map(({ text }) => text).join("")), ["one", "two ↵ three ↵ four"]);
  assert.deepEqual(lines[1]!.pieces.map(({ isLocked }) => isLocked), [true, false]);
});

test("a line that is very long is cut, and no character in two", () => {
  const drafts = new Drafts();
  drafts.told(told("a", ["😀".repeat(500)]));
  const [line] = drafts.of(URI, 1).flatMap(drawn);
  assert.equal(line!.pieces[0]!.text, "😀".repeat(160));
});

test("strange drafts draw nothing", () => {
  const drafts = new Drafts();
  for (const raw of [undefined, null, 7, {}, { token: "a" }, { ...told("a", []), range: null }, { ...told("a", []), tokens: 5 }]) {
    drafts.told(raw);
  }
  assert.deepEqual(drafts.of(URI, 1).flatMap(drawn).flatMap(({ pieces }) => pieces), []);
});

test("an edit is made by the client only where the server has not made it", () => {
  assert.deepEqual(asOutcome({ applied: false, message: "m", edit: { changes: {} } }), { message: "m", edit: { changes: {} }, inline: false });
  assert.equal(asOutcome({ applied: true, message: "", edit: { changes: {} } }).edit, undefined);
  assert.equal(asOutcome({ applied: false, inline: true }).inline, true);
  for (const strange of [null, 3, "x", [], { message: 4, edit: 1, inline: "yes" }]) {
    assert.deepEqual(asOutcome(strange), { message: "", edit: undefined, inline: false });
  }
});

test("drafts and the status are asked for, and what else is experimental stays", () => {
  const { experimental } = optedIn({ experimental: { other: 1 } });
  assert.deepEqual(experimental, { other: 1, midfill: { drafts: true, status: true } });
});

test("of many pieces the last takes in what follows", () => {
  const line = ["a", "b", "c", "d"].map((text) => ({ text, isLocked: true }));
  assert.deepEqual(few(line, 4), line);
  assert.deepEqual(few(line, 3), [...line.slice(0, 2), { text: "cd", isLocked: false }]);
});
