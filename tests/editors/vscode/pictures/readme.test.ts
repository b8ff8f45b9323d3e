/** Makes the pictures of docs/images with the shipped model. Nothing is chosen: what it says first is what is shown. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Place, PYTHON, REPOSITORY } from "../workbench/code_server";
import { Workbench } from "../workbench/workbench";

const ABOVE = "class Account:\n    def __init__(self, owner, balance=0):\n        self.owner = owner\n";
const BELOW = "        self.history = []\n\n    def deposit(self, amount):\n        self.balance += amount\n";
const LINE = "        self.total = balance + 1\n";
const EDITOR = { x: 304, y: 36, width: 560, height: 240 };
const PREVIEW = { x: 304, y: 36, width: 690, height: 560 };

let place: Place;
let bench: Workbench;

before(async () => {
  place = new Place();
  place.write(".venv/bin/midfill", `#!/bin/sh\nexec '${PYTHON}' -m midfill_server.cli "$@"\n`);
  chmodSync(`${place.workspace}/.venv/bin/midfill`, 0o755);
  const settings = { "midfill.deadlineMs": 60_000, "editor.lightbulb.enabled": "off", "editor.renderWhitespace": "none" };
  bench = await Workbench.open(place, { settings });
});

after(async () => {
  await bench?.close();
  place?.remove();
});

async function shoot(name: string, clip: typeof EDITOR): Promise<void> {
  await bench.page.screenshot({ path: join(REPOSITORY, "docs/images", `${name}.png`), clip });
}

async function selectLine(name: string): Promise<void> {
  place.write(name, ABOVE + LINE + BELOW);
  await bench.openFile(name, 4);
  await bench.press("Shift+Home");
}

test("ghost text", async () => {
  place.write("account.py", `${ABOVE}        \n${BELOW}`);
  await bench.openFile("account.py", 4);
  await bench.waitForStatus("ready");
  await bench.type("self");
  await bench.until("a suggestion", async () => {
    await bench.type((await bench.lines()).includes("self.\n") ? "b" : ".");
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    return (await bench.ghost()) !== "";
  });
  await shoot("vscode-ghost-text", EDITOR);
  await bench.press("Escape");
});

test("a draft as it develops", async () => {
  await selectLine("draft.py");
  await bench.press("Alt+\\");
  await bench.until("a draft that is decided in part", async () => new Set(await bench.draftColours()).size === 2);
  await shoot("vscode-live-draft", EDITOR);
  await bench.until("its end", async () => (await bench.draft()) === "");
});

test("the preview of a rewrite", async () => {
  await selectLine("rewrite.py");
  await bench.run("midfill: Rewrite Selection");
  await bench.page.waitForSelector(".quick-input-widget:has-text('Rewrite the selection')");
  await bench.press("Enter");
  await bench.page.waitForSelector(".bulk-edit-panel .monaco-list-row .edit-checkbox");
  await shoot("vscode-rewrite", PREVIEW);
});
