/** What is asked for: fills, rewrites, drafts as they develop. The real server around a scripted engine. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Place } from "./code_server";
import { Workbench } from "./workbench";

let place: Place;
let bench: Workbench;

before(async () => {
  place = new Place();
  bench = await Workbench.open(place, { settings: { "midfill.command": place.scripted } });
  await bench.waitForStatus("ready");
  await bench.warmUp();
});

after(async () => {
  await bench?.close();
  place?.remove();
});

function scenario(what: string, act: () => Promise<void>): void {
  test(what, async () => {
    try {
      await act();
      assert.deepEqual(await bench.toasts(), []);
    } catch (error) {
      await bench.picture(`failed-${what.replaceAll(/\W+/g, "-").slice(0, 40)}`);
      console.error(place.tail());
      throw error;
    }
  });
}

const LOOP = "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n";
const AFTER = "    result = 0\n    ";
const SHORT = "result = sum(items)";
const REWRITTEN = `def total(items):\n    result = 0\n    ${SHORT}\n    return result\n`;

/** Open LOOP and select the two lines of its loop. */
async function selectLoop(name: string): Promise<void> {
  place.write(name, LOOP);
  await bench.openFile(name, 4);
  await bench.press("Shift+ArrowUp");
  await bench.press("Shift+Home");
}

async function rewrite(instruction: string): Promise<void> {
  await bench.run("midfill: Rewrite Selection");
  await bench.page.waitForSelector(".quick-input-widget:has-text('Rewrite the selection')");
  await bench.type(instruction);
  await bench.press("Enter");
}

/** In the Refactor Preview. */
async function confirm(button: "Apply" | "Discard"): Promise<void> {
  await bench.page.waitForSelector(".refactor-preview-panel, .bulk-edit-panel", { timeout: 20_000 });
  await bench.picture(`preview-${button}`);
  // The editor leaves a change that wants to be confirmed unticked.
  if (button === "Apply") {
    await bench.page.click(".bulk-edit-panel .monaco-list-row:has(.edit-checkbox) >> nth=-1 >> .edit-checkbox");
  }
  await bench.page.click(`.bulk-edit-panel .monaco-button:has-text("${button}")`);
}

scenario("a rewrite is previewed, applied when confirmed, and undone at once", async () => {
  place.say([{ after: AFTER, texts: [SHORT] }]);
  await selectLoop("rewrite.py");
  await rewrite("use sum");
  await confirm("Apply");
  await bench.until("the text", async () => (await bench.lines()).includes(SHORT));
  await bench.mustSave("rewrite.py", REWRITTEN);
  await bench.page.click(".editor-instance .view-lines");
  await bench.press("Control+Z");
  await bench.mustSave("rewrite.py", LOOP);
});

scenario("a rewrite that is discarded changes nothing", async () => {
  place.say([{ after: AFTER, texts: [SHORT] }]);
  await selectLoop("discard.py");
  await rewrite("");
  await confirm("Discard");
  await bench.mustSave("discard.py", LOOP);
});

scenario("a selection is filled as its draft develops, and another draft replaces it", async () => {
  const hold = place.at("go");
  place.say([{ after: AFTER, texts: [SHORT], hold, step: 2 }]);
  await selectLoop("live.py");
  await bench.press("Alt+\\");
  await bench.until("a draft", async () => (await bench.draft()).startsWith("result ="));
  const shown = await bench.draft();
  assert.match(shown, /░/, "what is still open is not drawn");
  const colours = await bench.draftColours();
  assert.equal(new Set(colours).size, 2, `locked and open look alike: ${colours.join(" ")}`);
  await bench.picture("live-draft");
  writeFileSync(hold, "");
  await bench.until("the draft to be removed", async () => (await bench.draft()) === "");
  await bench.until("the text", async () => (await bench.lines()).includes(SHORT));
  await bench.mustSave("live.py", REWRITTEN);
  place.say([{ after: AFTER, texts: ["result = 0 + sum(items)"] }]);
  await bench.run("midfill: Another Draft");
  await bench.until("another text", async () => (await bench.lines()).includes("0 + sum(items)"));
  await bench.mustSave("live.py", REWRITTEN.replace("sum(", "0 + sum("));
});

/** They were drawn in the order of a hash: what came first stood last, in one text or another. */
scenario("the pieces of a draft stand in their order, whatever they say", async () => {
  for (const [index, first] of ["alpha", "beta", "gamma", "delta", "eta", "iota"].entries()) {
    const hold = place.at(`order-${index}`);
    place.say([{ after: AFTER, texts: [`${first} = ${SHORT}`], hold, step: 1 }]);
    await selectLoop(`order${index}.py`);
    await bench.press("Alt+\\");
    await bench.until("a draft", async () => (await bench.draft()) !== "");
    assert.match(await bench.draft(), new RegExp(`^${first}░+$`));
    writeFileSync(hold, "");
    await bench.until("the draft to be removed", async () => (await bench.draft()) === "");
  }
});

scenario("an edit meanwhile removes the draft, and the text is left as it was typed", async () => {
  const hold = place.at("never");
  place.say([{ after: AFTER, texts: [SHORT], hold, step: 2 }]);
  await selectLoop("edited.py");
  await bench.press("Alt+\\");
  await bench.until("a draft", async () => (await bench.draft()) !== "");
  await bench.press("Control+End");
  await bench.type("# mine");
  await bench.until("the draft to be removed", async () => (await bench.draft()) === "");
  writeFileSync(hold, "");
  await bench.waitForWords("the document has changed");
  await bench.mustSave("edited.py", `${LOOP}# mine`);
});

scenario("all holes of a file are filled at once, and undone at once", async () => {
  place.say([{ after: "    ", texts: ["return 1"] }]);
  const text = "def one():\n    pass\n\n\ndef two():\n    pass\n";
  place.write("holes.py", text);
  await bench.openFile("holes.py", 1);
  await bench.run("midfill: Fill All Holes");
  await bench.until("both to be filled", async () => (await bench.lines()).split("return 1").length === 3);
  await bench.mustSave("holes.py", text.replaceAll("pass", "return 1"));
  await bench.press("Control+Z");
  await bench.mustSave("holes.py", text);
});

scenario("statistics are a text", async () => {
  await bench.run("midfill: Show Statistics");
  await bench.page.waitForSelector(".tab.active[data-resource-name^='Untitled']");
  await bench.until("a table", async () => (await bench.lines()).includes("|"));
});

scenario("the models are listed with size and licence", async () => {
  await bench.run("midfill: Choose Model");
  await bench.page.waitForSelector(".quick-input-list .monaco-list-row[aria-label*='pocket']");
  await bench.picture("models");
  const row = await bench.page.$eval(".quick-input-list .monaco-list-row[aria-label*='pocket']", (one) => one.getAttribute("aria-label"));
  assert.match(row ?? "", /MB/);
  await bench.press("Escape");
});
