import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(process.env["REPOSITORY"]!, "editors/vscode");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const manifest = JSON.parse(read("package.json"));

test("every command of the manifest is wired, and every wired command is in the manifest", () => {
  const block = /const commands: [^{]*\{(.*?)\n  \};/s.exec(read("src/extension.ts"))![1]!;
  const wired = [...block.matchAll(/^ {4}(\w+):/gm)].map((match) => `midfill.${match[1]}`);
  const declared = manifest.contributes.commands.map((one: { command: string }) => one.command);
  assert.deepEqual(wired.toSorted(), declared.toSorted());
  for (const { command } of [...manifest.contributes.keybindings, ...manifest.contributes.menus["editor/context"]]) {
    assert.ok(declared.includes(command), command);
  }
});

test("no command of ours has the name of a command of the server, which the client registers itself", () => {
  const names = [...read("src/abilities.ts").matchAll(/"(midfill\.\w+)"/g)].map((match) => match[1]);
  assert.equal(names.length, 8);
  const declared = manifest.contributes.commands.map((one: { command: string }) => one.command);
  assert.deepEqual(names.filter((name) => declared.includes(name)), []);
});

test("a workspace that is not trusted has no say in what is run", () => {
  const { untrustedWorkspaces } = manifest.capabilities;
  assert.equal(untrustedWorkspaces.supported, "limited");
  assert.deepEqual(untrustedWorkspaces.restrictedConfigurations, ["midfill.command", "midfill.preset", "midfill.logFile", "midfill.remoteUrl"]);
});

test("the pages of the walkthrough exist", () => {
  for (const { media } of manifest.contributes.walkthroughs[0].steps) {
    assert.ok(existsSync(join(ROOT, media.markdown)), media.markdown);
  }
});

test("the lock file names no host", () => {
  assert.doesNotMatch(read("package-lock.json"), /"resolved"/);
});
