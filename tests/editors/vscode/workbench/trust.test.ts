/** What is run, and what never is: an untrusted workspace, a machine without a server. */
import assert from "node:assert/strict";
import { chmodSync, existsSync } from "node:fs";
import { after, test } from "node:test";
import { Place } from "./code_server";
import { Workbench } from "./workbench";

const open: (() => Promise<void>)[] = [];

after(async () => {
  for (const close of open) {
    await close();
  }
});

async function workbench(place: Place, wish: Parameters<typeof Workbench.open>[1]): Promise<Workbench> {
  const bench = await Workbench.open(place, wish);
  open.push(async () => {
    await bench.close();
    place.remove();
  });
  return bench;
}

/** A workspace that would have a program of its own run in every way there is. */
function trap(place: Place): string {
  const sprung = place.at("sprung");
  const program = `#!/bin/sh\ntouch '${sprung}'\n`;
  for (const name of [".venv/bin/midfill", "bin/midfill", "midfill"]) {
    place.write(name, program);
    chmodSync(`${place.workspace}/${name}`, 0o755);
  }
  const python = `open(${JSON.stringify(sprung)}, "w")\n`;
  for (const name of ["midfill_server/__init__.py", "json.py", "asyncio.py", "sitecustomize.py"]) {
    place.write(name, python);
  }
  place.write(".vscode/settings.json", JSON.stringify({ "midfill.command": [`${place.workspace}/bin/midfill`, "serve"] }));
  return sprung;
}

test("in an untrusted workspace the user's server runs, and nothing of the workspace", async () => {
  const place = new Place();
  const sprung = trap(place);
  const bench = await workbench(place, {
    settings: { "midfill.command": place.scripted },
    isTrusted: false,
    searchPath: `.:${place.workspace}/bin:${process.env["PATH"]}`,
  });
  await bench.waitForStatus("ready");
  await bench.warmUp();
  place.say([{ after: "x = ", texts: ["safe(z)"] }]);
  place.write("a.py", "x =\n");
  await bench.openFile("a.py", 1);
  await bench.type(" ");
  await bench.waitForGhost("safe(z)");
  assert.equal(existsSync(sprung), false);
  assert.deepEqual(await bench.toasts(), []);
});

test("the same workspace, trusted, has its own server run", async () => {
  const place = new Place();
  const sprung = trap(place);
  const bench = await workbench(place, { settings: { "midfill.command": place.scripted } });
  await bench.until("the trap to spring", () => existsSync(sprung));
});

test("without any server it says so once, and never again", async () => {
  const place = new Place();
  const bench = await workbench(place, { settings: {}, searchPath: "/usr/bin:/bin" });
  await bench.waitForStatus("no server found");
  await bench.until("the message", async () => (await bench.toasts()).length > 0);
  const said = await bench.toasts();
  assert.equal(said.length, 1);
  assert.match(said[0]!, /^midfill needs its server/);
  await bench.picture("no-server");
  await bench.page.click(".notifications-toasts a.monaco-button:has-text('Not Now')");
  await bench.run("midfill: Restart Server");
  await bench.waitForStatus("no server found");
  await bench.load();
  await bench.waitForStatus("no server found");
  await bench.run("midfill: Restart Server");
  await bench.waitForStatus("no server found");
  assert.deepEqual(await bench.toasts(), []);
});
