/**
 * Where the server is: pure decisions on plain values.
 *
 * The order: the user's own setting; the setting of a trusted workspace; a virtual environment of a trusted workspace;
 * PATH; what "Set Up Server" has installed. Nothing that an untrusted workspace names or contains is ever run.
 */
import * as path from "node:path";

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** What the decision is made from. `isRunnable`: whether a file is there and may be executed. */
export interface Facts {
  readonly userCommand: readonly string[];
  readonly workspaceCommand: readonly string[];
  readonly isTrusted: boolean;
  readonly folders: readonly string[];
  readonly home: string;
  readonly searchPath: string;
  readonly ownEnvironment: string;
  readonly isWindows: boolean;
  readonly isRunnable: (file: string) => boolean;
}

/** `how` is for the log. */
export interface Found {
  readonly command: Command;
  readonly how: string;
}

const ENVIRONMENTS = [".venv", "venv", ".env", "env"];
const SERVE = "serve";

/** The server to start; undefined if there is none. */
export function locate(facts: Facts): Found | undefined {
  return fromWorkspaceSetting(facts) ?? fromUserSetting(facts) ?? fromWorkspace(facts) ?? fromPath(facts) ?? own(facts);
}

/** Where the program `midfill` is in a virtual environment. */
export function programIn(environment: string, isWindows: boolean): string {
  return isWindows ? path.win32.join(environment, "Scripts", "midfill.exe") : path.posix.join(environment, "bin", "midfill");
}

function fromUserSetting(facts: Facts): Found | undefined {
  return asCommand(facts.userCommand, facts, "the setting midfill.command");
}

/** Nearer settings win over the user's, as everywhere in the editor. */
function fromWorkspaceSetting(facts: Facts): Found | undefined {
  return facts.isTrusted ? asCommand(facts.workspaceCommand, facts, "the workspace's setting midfill.command") : undefined;
}

function fromWorkspace(facts: Facts): Found | undefined {
  if (!facts.isTrusted) {
    return undefined;
  }
  const programs = facts.folders.flatMap((folder) =>
    ENVIRONMENTS.map((name) => programIn(separated(facts).join(folder, name), facts.isWindows)),
  );
  return firstRunnable(programs, facts, "the workspace's virtual environment");
}

/** Relative entries of PATH would mean: whatever the folder that happens to be open contains. */
function fromPath(facts: Facts): Found | undefined {
  const { delimiter, isAbsolute, join } = separated(facts);
  const names = facts.isWindows ? ["midfill.exe", "midfill.cmd"] : ["midfill"];
  const folders = facts.searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const programs = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return firstRunnable(facts.isTrusted ? programs : programs.filter((file) => !isInside(file, facts)), facts, "PATH");
}

function own(facts: Facts): Found | undefined {
  return firstRunnable([programIn(facts.ownEnvironment, facts.isWindows)], facts, "what Set Up Server has installed");
}

function firstRunnable(programs: readonly string[], facts: Facts, how: string): Found | undefined {
  const program = programs.find((file) => facts.isRunnable(file));
  return program === undefined ? undefined : { command: [program, SERVE], how };
}

function asCommand(words: readonly string[], facts: Facts, how: string): Found | undefined {
  const [program, ...args] = words.map((word) => expanded(word, facts));
  return program ? { command: [program, ...args], how } : undefined;
}

function expanded(word: string, facts: Facts): string {
  const named = word.replaceAll("${workspaceFolder}", facts.folders[0] ?? "");
  return named === "~" || named.startsWith("~/") ? facts.home + named.slice(1) : named;
}

function isInside(file: string, facts: Facts): boolean {
  const { relative, isAbsolute } = separated(facts);
  return facts.folders.some((folder) => {
    const way = relative(folder, file);
    return !way.startsWith("..") && !isAbsolute(way);
  });
}

function separated(facts: Facts): path.PlatformPath {
  return facts.isWindows ? path.win32 : path.posix;
}
