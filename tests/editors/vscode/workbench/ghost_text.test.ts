/** The real server around a scripted engine in the real workbench. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Place } from "./code_server";
import { Workbench } from "./workbench";

let place: Place;
let bench: Workbench;

before(async () => {
  place = new Place();
  bench = await Workbench.open(place, { settings: { "midfill.command": place.scripted } });
});

after(async () => {
  await bench?.close();
  place?.remove();
});

/** A scenario with a file of its own, at whose end no toast may ever have been shown. */
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

const SUM = "def total(items):\n    result = 0\n    \n    return result\n";
const LOOP = "for item in items:\n        result += item";

/** Open SUM under a name of its own and write until the loop is suggested. */
async function suggestedLoop(name: string): Promise<void> {
  place.say([{ after: "    f", texts: [LOOP.slice(1)] }]);
  place.write(name, SUM);
  await bench.openFile(name, 3);
  await bench.type("f");
  await bench.waitForGhost("or item in items:");
}

scenario("the server is found and runs", async () => {
  await bench.waitForStatus("model: pocket");
  await bench.waitForStatus("ready");
  await bench.warmUp();
});

scenario("ghost text appears and Tab accepts it", async () => {
  await suggestedLoop("tab.py");
  await bench.waitForStatus("last suggestion");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.mustSave("tab.py", `def total(items):\n    result = 0\n    ${LOOP}\n    return result\n`);
});

scenario("Ctrl+Right accepts a word; the rest stays and the model is not asked again", async () => {
  await suggestedLoop("word.py");
  const before = place.events("fill").length;
  await bench.acceptWordsUntilGhost("item in items:");
  await bench.acceptWordsUntilGhost("in items:");
  await bench.mustSave("word.py", SUM.replace("    \n", "    for item\n"));
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.mustSave("word.py", `def total(items):\n    result = 0\n    ${LOOP}\n    return result\n`);
  assert.deepEqual(place.events("fill").slice(before).filter(({ prefix }) => !prefix.endsWith("+= item")), []);
});

scenario("typing into the suggestion does not ask the model again", async () => {
  await suggestedLoop("into.py");
  const before = place.events("fill").length;
  await bench.type("or it");
  await bench.waitForGhost("em in items:");
  assert.equal(place.events("fill").length, before);
});

scenario("Escape dismisses, and Tab is a tab again", async () => {
  await suggestedLoop("escape.py");
  await bench.press("Escape");
  await bench.waitForNoGhost();
  await bench.press("Tab");
  await bench.mustSave("escape.py", SUM.replace("    \n", "    f   \n"));
});

scenario("undo once restores what was there before", async () => {
  await suggestedLoop("undo.py");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.press("Control+Z");
  await bench.mustSave("undo.py", SUM.replace("    \n", "    f\n"));
});

scenario("a CRLF file stays one", async () => {
  place.say([{ after: "b = [", texts: ["\n    1,\n    2"] }]);
  place.write("crlf.py", "a = 1\r\nb = \r\nc = 3\r\n");
  await bench.openFile("crlf.py", 2);
  await bench.type("[");
  await bench.waitForGhost("1,");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.mustSave("crlf.py", "a = 1\r\nb = [\r\n    1,\r\n    2]\r\nc = 3\r\n");
});

scenario("on a line with emoji the text lands where it belongs", async () => {
  place.say([{ after: "+ n", texts: ["ame + '!'"] }]);
  place.write("emoji.py", "name = 'x'\ns = '😀👩‍👩‍👧é' \nprint(s)\n");
  await bench.openFile("emoji.py", 2);
  await bench.type("+ n");
  await bench.waitForGhost("ame +");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.mustSave("emoji.py", "name = 'x'\ns = '😀👩‍👩‍👧é' + name + '!'\nprint(s)\n");
});

scenario("a bracket that the editor has closed is not closed twice", async () => {
  place.say([{ after: "print(", texts: ["total(items))"] }]);
  place.write("bracket.py", "items = []\n\n");
  await bench.openFile("bracket.py", 2);
  await bench.type("print(");
  await bench.waitForGhost("total(items)");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.mustSave("bracket.py", "items = []\nprint(total(items))\n");
});

scenario("Fill Here asks for several, Another Draft shows the next", async () => {
  place.say([{ after: "x = ", texts: ["first()", "second()"] }]);
  place.write("draft.py", "x = \n");
  await bench.openFile("draft.py", 1);
  await bench.press("Alt+\\");
  await bench.waitForGhost("first()");
  await bench.press("Alt+Shift+\\");
  await bench.waitForGhost("second()");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  await bench.mustSave("draft.py", "x = second()\n");
});

scenario("an untitled file is served", async () => {
  place.say([{ after: "alpha = ", texts: ["beta"] }]);
  await bench.press("Control+Alt+N");
  await bench.page.waitForSelector('.tab.active[data-resource-name="Untitled-1"]');
  await bench.page.waitForSelector(".editor-instance .monaco-editor.focused");
  await bench.type("alpha = ");
  await bench.waitForGhost("beta");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  place.say([{ after: "alpha = beta ", texts: ["+ 1"] }]);
  await bench.type(" ");
  await bench.waitForGhost("+ 1");
});

scenario("a cell of a notebook is served", async () => {
  place.say([{ after: "gamma = ", texts: ["delta"] }]);
  const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: ["a = 1\n"], id: "c1" };
  const metadata = { language_info: { name: "python" } };
  place.write("book.ipynb", JSON.stringify({ cells: [cell], metadata, nbformat: 4, nbformat_minor: 5 }));
  await bench.pick("book.ipynb");
  await bench.page.click(".notebookOverlay .cell .view-lines");
  await bench.page.waitForSelector(".notebookOverlay .monaco-editor.focused");
  await bench.press("Control+End");
  await bench.type("gamma = ");
  await bench.waitForGhost("delta");
  await bench.press("Tab");
  await bench.waitForNoGhost();
  const source = (text: string) => [JSON.parse(text).cells[0].source].flat().join("");
  const expected = "a = 1\ngamma = delta";
  assert.equal(source(await bench.saved("book.ipynb", (text) => source(text) === expected)), expected);
});

scenario("an engine that fails is silence, then it serves again", async () => {
  place.say([{ after: "y = ", error: "EngineUnavailable" }]);
  place.write("fails.py", "y =\n");
  await bench.openFile("fails.py", 1);
  const before = place.events("start").length;
  await bench.type(" ");
  await bench.until("a fill", () => place.events("fill").at(-1)?.prefix === "y = ");
  await bench.type("n");
  await bench.until("another start", () => place.events("start").length > before);
  await bench.waitForStatus("ready");
  place.say([{ after: "y = ne", texts: ["xt(z)"] }]);
  await bench.type("e");
  await bench.waitForGhost("xt(z)");
});

scenario("who types while the model is loaded sees the suggestion when it is there", async () => {
  place.say([{ after: "u = ", texts: ["late(z)"] }]);
  place.load(true);
  await bench.run("midfill: Restart Server");
  await bench.waitForStatus("loading pocket");
  place.write("late.py", "u =\n");
  await bench.openFile("late.py", 1);
  await bench.type(" ");
  assert.equal(await bench.ghost(), "");
  place.load(false);
  await bench.waitForGhost("late(z)");
});

scenario("a server that is killed comes back by itself", async () => {
  const before = place.events("start").length;
  assert.equal(await killServer(place), 1);
  await bench.until("another start", () => place.events("start").length > before);
  await bench.waitForStatus("ready");
  place.say([{ after: "w = n", texts: ["ew(z)"] }]);
  place.write("killed.py", "w =\n");
  await bench.openFile("killed.py", 1);
  await bench.type(" n");
  await bench.waitForGhost("ew(z)");
});

scenario("in a file that may hold secrets nothing is suggested, and the status bar says why", async () => {
  place.say([{ after: "KEY=", texts: ["secret"] }]);
  place.write(".env", "\n");
  await bench.openFile(".env", 1);
  await bench.type("KEY=");
  await bench.waitForStatus("off in files that may hold secrets");
  assert.equal(await bench.ghost(), "");
});

scenario("a language is turned off and on", async () => {
  place.say([{ after: "v = n", texts: ["ame"] }]);
  place.write("turned.py", "v =\n");
  await bench.openFile("turned.py", 1);
  await bench.run("midfill: Toggle for Language");
  await bench.waitForWords("off for python");
  await bench.type(" ");
  await bench.waitForStatus("switched off for python");
  await bench.run("midfill: Toggle for Language");
  await bench.waitForWords("on for python");
  await bench.type("n");
  await bench.waitForGhost("ame");
});

scenario("what can be done is in the menu; that there is nothing to do is said in the status bar", async () => {
  place.write("nothing.py", "a = 1\n");
  await bench.openFile("nothing.py", 1);
  await bench.run("midfill: Rewrite Selection");
  await bench.waitForWords("nothing is selected");
  await bench.page.click(".statusbar-item[id*='midfill.status']");
  await bench.page.waitForSelector(".quick-input-list .monaco-list-row");
  const rows = await bench.page.$$eval(".quick-input-list .monaco-list-row", (all) => all.map((row) => row.getAttribute("aria-label")));
  await bench.picture("menu");
  assert.ok(rows.some((row) => row?.includes("Write a test") && !row.includes("cannot")), rows.join("\n"));
  assert.ok(rows.some((row) => row?.includes("Turn off for python")), rows.join("\n"));
  await bench.press("Escape");
});

scenario("restarting starts another process", async () => {
  const before = place.events("start").length;
  await bench.run("midfill: Restart Server");
  await bench.until("another start", () => place.events("start").length > before);
  await bench.waitForStatus("ready");
});

/** Kills the servers of this place; how many. */
async function killServer({ root }: Place): Promise<number> {
  const { execFileSync } = await import("node:child_process");
  const lines = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
  const servers = lines.filter((line) => line.includes("scripted_server.py") && line.includes(root));
  servers.forEach((line) => process.kill(Number(line.trim().split(/\s+/)[0]), "SIGKILL"));
  return servers.length;
}
