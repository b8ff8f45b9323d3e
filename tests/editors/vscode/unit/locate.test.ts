import assert from "node:assert/strict";
import { test } from "node:test";
import { locate, programIn, type Facts } from "../../../../editors/vscode/src/locate";

const NOTHING: Facts = {
  userCommand: [],
  workspaceCommand: [],
  isTrusted: true,
  folders: ["/w"],
  home: "/home/me",
  searchPath: "/usr/local/bin:/usr/bin",
  ownEnvironment: "/own",
  isWindows: false,
  isRunnable: () => false,
};

const EVERYWHERE: Facts = {
  ...NOTHING,
  userCommand: ["user", "serve"],
  workspaceCommand: ["workspace", "serve"],
  isRunnable: () => true,
};

function check(facts: Partial<Facts>, expected: string | undefined): void {
  assert.equal(locate({ ...EVERYWHERE, ...facts })?.command.join(" "), expected);
}

test("in order: settings, the workspace's environment, PATH, what was installed", () => {
  const only = (program: string) => ({ isRunnable: (file: string) => file === program });
  const none = { userCommand: [], workspaceCommand: [] };
  check({}, "workspace serve");
  check({ workspaceCommand: [] }, "user serve");
  check(none, "/w/.venv/bin/midfill serve");
  check({ ...none, ...only("/w/venv/bin/midfill") }, "/w/venv/bin/midfill serve");
  check({ ...none, ...only("/usr/bin/midfill") }, "/usr/bin/midfill serve");
  check({ ...none, ...only("/own/bin/midfill") }, "/own/bin/midfill serve");
  check({ ...none, isRunnable: () => false }, undefined);
});

test("nothing that an untrusted workspace names or contains is run", () => {
  const untrusted = { isTrusted: false, userCommand: [] };
  check({ ...untrusted }, "/usr/local/bin/midfill serve");
  check({ ...untrusted, searchPath: "/w/bin:/usr/bin" }, "/usr/bin/midfill serve");
  check({ ...untrusted, searchPath: "", isRunnable: (file) => file.startsWith("/w/") }, undefined);
  check({ isTrusted: false }, "user serve");
});

test("a relative entry of PATH is whatever folder happens to be open: it is left out", () => {
  const none = { userCommand: [], workspaceCommand: [], isRunnable: (file: string) => !file.startsWith("/w/") };
  check({ ...none, searchPath: ".:bin::/usr/bin" }, "/usr/bin/midfill serve");
});

test("home and the workspace's folder are understood in a command", () => {
  check({ userCommand: ["~/m/midfill", "serve", "--x=~"], workspaceCommand: [] }, "/home/me/m/midfill serve --x=~");
  check({ workspaceCommand: ["${workspaceFolder}/m", "serve"] }, "/w/m serve");
  check({ workspaceCommand: [""], userCommand: ["~"] }, "/home/me");
});

test("Windows has its own separators and names", () => {
  assert.equal(programIn("C:\\e", true), "C:\\e\\Scripts\\midfill.exe");
  const windows = { userCommand: [], workspaceCommand: [], isWindows: true, folders: ["C:\\w"], searchPath: "C:\\bin;D:\\bin" };
  check({ ...windows }, "C:\\w\\.venv\\Scripts\\midfill.exe serve");
  check({ ...windows, isRunnable: (file) => file === "D:\\bin\\midfill.cmd" }, "D:\\bin\\midfill.cmd serve");
});
