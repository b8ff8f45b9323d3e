import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CancellationTokenSource, ExecuteCommandRequest } from "vscode-languageserver-protocol/node";
import { ABILITIES, COMMANDS } from "../../../../editors/vscode/src/abilities";
import { Drafts, drawn } from "../../../../editors/vscode/src/drafts";
import { asOutcome } from "../../../../editors/vscode/src/outcome";
import { Client, until, type Said } from "./client";

const FILE = "file:///w/a.py";
const ANSWERS: readonly Said[] = [{ after: "x = ", texts: ["first(second)", "other"] }];

async function withClient(answers: readonly Said[], use: (client: Client) => Promise<void>): Promise<void> {
  const client = await Client.start(answers);
  try {
    await use(client);
    assert.equal(await client.leave(), 0, client.stderr.join(""));
  } catch (error) {
    client.connection.sendNotification("exit").catch(() => undefined);
    await client.end();
    throw error;
  }
}

/** Asks until something is suggested: an engine is started in the background, and meanwhile the answer is nothing. */
async function untilAnswered(client: Client): Promise<void> {
  let last: Promise<void> | undefined;
  let isAnswered = false;
  await until("a suggestion", () => {
    last ??= client.inline(FILE, 0, 4).then(({ items }) => {
      isAnswered = items.length > 0;
      last = undefined;
    });
    return isAnswered;
  });
  await last;
}

test("inline completion is announced, and a command to be told what was accepted", async () => {
  await withClient(ANSWERS, async ({ initialized: { capabilities } }) => {
    assert.ok(capabilities.inlineCompletionProvider);
    assert.equal(capabilities.completionProvider, undefined);
    assert.equal(capabilities.positionEncoding, "utf-16");
    const manifest = JSON.parse(readFileSync(join(process.env["REPOSITORY"]!, "editors/vscode/package.json"), "utf8"));
    const ours = new Set(manifest.contributes.commands.map((one: { command: string }) => one.command));
    const announced = capabilities.executeCommandProvider!.commands;
    assert.ok(announced.includes("midfill.didAccept"));
    assert.deepEqual(announced.filter((command) => ours.has(command)), [], "the client registers these a second time");
  });
});

for (const uri of [FILE, "untitled:Untitled-1", "vscode-notebook-cell:/w/n.ipynb#W0sZmlsZQ%3D%3D", "vscode-remote://ssh/w/a.py"]) {
  test(`a document of ${uri.split(":")[0]} is served`, async () => {
    await withClient(ANSWERS, async (client) => {
      await client.open(uri, "x = ");
      const { items } = await client.firstInline(uri, 0, 4);
      assert.equal(items[0]?.insertText, "first(second)");
      assert.deepEqual(items[0]?.range, { start: { line: 0, character: 4 }, end: { line: 0, character: 4 } });
      assert.equal(items[0]?.command?.command, "midfill.didAccept");
    });
  });
}

test("columns count UTF-16 units, and a CRLF file is answered without a carriage return", async () => {
  await withClient([{ after: "🙂' + ", texts: ["one\ntwo"] }], async (client) => {
    await client.open(FILE, "a = 1\r\ns = '😀🙂' + \r\n");
    const { items } = await client.firstInline(FILE, 1, 13);
    assert.deepEqual(items[0]?.range?.start, { line: 1, character: 13 });
    assert.doesNotMatch(String(items[0]?.insertText), /\r/);
  });
});

test("asked by a key, it gives several; by typing, one", async () => {
  await withClient(ANSWERS, async (client) => {
    await client.open(FILE, "x = ");
    assert.equal((await client.firstInline(FILE, 0, 4, 2)).items.length, 1);
    assert.equal((await client.inline(FILE, 0, 4, 1)).items.length, 2);
    assert.deepEqual(client.events("fill").map((fill) => fill.num_candidates), [1, 3]);
  });
});

test("accepting a word leaves the rest without another fill", async () => {
  await withClient(ANSWERS, async (client) => {
    await client.open(FILE, "x = ");
    await client.firstInline(FILE, 0, 4);
    await client.type(FILE, 0, 4, "first(");
    const { items } = await client.inline(FILE, 0, 10);
    assert.equal(items[0]?.insertText, "second)");
    assert.equal(client.events("fill").length, 1);
  });
});

test("a request that is cancelled stops the fill", async () => {
  await withClient([{ after: "x = ", texts: ["late"], hold: "/nowhere/at/all" }], async (client) => {
    await client.open(FILE, "x = ");
    await client.ready();
    const source = new CancellationTokenSource();
    const answer = client.inline(FILE, 0, 4, 2, source.token).then(
      ({ items }) => items.length,
      (error: { code: number }) => error.code,
    );
    await until("a fill", () => client.events("fill").length === 1);
    source.cancel();
    assert.ok([0, -32800].includes(await answer));
    await until("the fill to be cancelled", () => client.events("cancelled").length === 1);
  });
});

test("settings are asked for, and asked for again when told of a change without a value", async () => {
  const client = await Client.start(ANSWERS, { languagesOff: null, preset: null });
  await client.open(FILE, "x = ");
  assert.equal((await client.firstInline(FILE, 0, 4)).items.length, 1);
  await client.changedConfiguration({ languagesOff: ["python"], preset: null });
  assert.equal((await client.inline(FILE, 0, 4)).items.length, 0);
  assert.equal(client.statuses.at(-1)?.kind, "Inactive");
  await client.changedConfiguration({ languagesOff: null, preset: null });
  assert.equal((await client.inline(FILE, 0, 4)).items.length, 1);
  assert.doesNotMatch(client.stderr.join(""), /setting/);
  assert.equal(await client.leave(), 0);
});

test("in a file that may hold secrets nothing is suggested, and the status says why", async () => {
  await withClient(ANSWERS, async (client) => {
    await client.open("file:///w/.env", "x = ", "dotenv");
    assert.deepEqual((await client.inline("file:///w/.env", 0, 4)).items, []);
    const status = await until("a status", () => client.statuses.at(-1));
    assert.equal(status.kind, "Inactive");
    assert.match(status.message, /secrets/);
    assert.equal(client.events("fill").length, 0);
  });
});

for (const error of ["EngineUnavailable", "ResourceError"]) {
  test(`an engine that fails (${error}) is an empty answer, and the next one is served`, async () => {
    await withClient([{ after: "x = ", error }], async (client) => {
      await client.open(FILE, "x = ");
      assert.deepEqual((await client.firstInline(FILE, 0, 4)).items, []);
      client.say(ANSWERS);
      await untilAnswered(client);
    });
  });
}

test("a settings section as the client sends it, of unset values only, is taken as nothing set", async () => {
  const client = await Client.start(ANSWERS, { preset: null, languagesOff: null }, { languagesOff: ["python"] });
  await client.open(FILE, "x = ");
  assert.deepEqual((await client.inline(FILE, 0, 4)).items, []);
  assert.equal(await client.leave(), 0);
});

test("every command that the client knows is the server's", async () => {
  await withClient(ANSWERS, async ({ initialized: { capabilities } }) => {
    const announced = capabilities.executeCommandProvider!.commands;
    assert.deepEqual(ABILITIES.filter((ability) => !announced.includes(COMMANDS[ability])), []);
  });
});

test("a client that does not apply edits for the server finds them in the outcome; the drafts are removed at the end", async () => {
  await withClient([{ after: "x = ", texts: ["first(second) + third"] }], async (client) => {
    await client.open(FILE, "x = old\n");
    await client.ready();
    const range = { start: { line: 0, character: 4 }, end: { line: 0, character: 7 } };
    const raw: unknown = await client.connection.sendRequest(ExecuteCommandRequest.type, {
      command: COMMANDS.rewrite,
      arguments: [{ textDocument: { uri: FILE, version: 1 }, range }],
    });
    assert.match(JSON.stringify(asOutcome(raw).edit), /first\(second\)/);
    assert.ok(client.drafts.length > 1, "no draft was told");
    const drafts = new Drafts();
    const seen = client.drafts.map((draft) => [drafts.told(draft), drafts.of(FILE, 1).flatMap(drawn)] as const);
    assert.ok(seen.every(([uri]) => uri === FILE));
    assert.ok(seen.some(([, lines]) => lines.some(({ pieces }) => pieces.some(({ isLocked }) => isLocked))));
    assert.deepEqual(drafts.of(FILE, 1), []);
  });
});
