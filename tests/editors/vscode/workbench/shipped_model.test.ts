/** The real server, the real engine process and the shipped model, as a user has them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Place, PYTHON } from "./code_server";
import { Workbench } from "./workbench";

const ABOVE = `def count_words(text):
    """How often each word of a text occurs."""
    counts = {}
    for word in text.split():
`;
const BELOW = `    return counts


print(count_words("a b a"))
`;

let place: Place;
let bench: Workbench;

before(async () => {
  place = new Place();
  place.write(".venv/bin/midfill", `#!/bin/sh\nexec '${PYTHON}' -m midfill_server.cli "$@"\n`);
  chmodSync(`${place.workspace}/.venv/bin/midfill`, 0o755);
  bench = await Workbench.open(place, { settings: { "midfill.deadlineMs": 20_000 } });
});

after(async () => {
  await bench?.close();
  if (place !== undefined) {
    engines().forEach((pid) => process.kill(pid, "SIGKILL"));
    place.remove();
  }
});

/** The engine processes of this place: they have its runtime directory in their environment. */
function engines(): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
  const pids = lines.filter((line) => line.includes("midfill_engine")).map((line) => line.trim().split(/\s+/)[0]!);
  return pids.filter((pid) => environmentOf(pid).includes(place.root)).map(Number);
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

/** Write into the loop until the model suggests something; what stands in the file then is above + typed + below. */
async function suggestedIn(name: string): Promise<string> {
  place.write(name, `${ABOVE}        \n${BELOW}`);
  await bench.openFile(name, 5);
  const typed = "counts[word] = counts.get(word, 0) + 1";
  let length = 0;
  await bench.until("a suggestion of the model", async () => {
    if (length < typed.length) {
      await bench.type(typed[length]!);
      length += 1;
    }
    await pause();
    return (await bench.ghost()) !== "";
  });
  return typed.slice(0, length);
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 400));

async function accepted(name: string): Promise<void> {
  const typed = await suggestedIn(name);
  const ghost = await bench.ghost();
  await bench.picture(`shipped-${name}`);
  await bench.press("Tab");
  await bench.waitForNoGhost();
  const head = `${ABOVE}        ${typed}`;
  const isRight = (text: string) => text.startsWith(head) && text.endsWith(BELOW) && text.length > head.length + BELOW.length;
  const text = await bench.saved(name, isRight);
  assert.ok(isRight(text), `${JSON.stringify(ghost)} became\n${text}`);
}

test("found in the workspace's environment, it suggests; what was given stands unchanged around what is accepted", async () => {
  await bench.waitForStatus("model: pocket");
  await accepted("first.py");
  assert.deepEqual(await bench.toasts(), []);
});

test("the engine killed, the next suggestion comes from another one, in silence", async () => {
  const before = engines();
  assert.equal(before.length, 1);
  process.kill(before[0]!, "SIGKILL");
  await accepted("second.py");
  const after = engines();
  assert.equal(after.length, 1);
  assert.notDeepEqual(after, before);
  assert.deepEqual(await bench.toasts(), []);
});
