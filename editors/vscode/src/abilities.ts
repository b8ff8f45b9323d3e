/** What a server can do beyond suggesting, told by the commands that it announces. */

export type Ability = "fill" | "nextDraft" | "rewrite" | "fillHoles" | "writeTest" | "docstring" | "stats" | "models";

/** The server's command for each ability. */
export const COMMANDS: Readonly<Record<Ability, string>> = {
  fill: "midfill.fill",
  nextDraft: "midfill.nextDraft",
  rewrite: "midfill.rewrite",
  fillHoles: "midfill.fillHoles",
  writeTest: "midfill.writeTest",
  docstring: "midfill.docstring",
  stats: "midfill.stats",
  models: "midfill.models",
};

const WHAT: Readonly<Record<Ability, string>> = {
  fill: "fill on demand",
  nextDraft: "make another draft",
  rewrite: "rewrite selections",
  fillHoles: "fill all holes",
  writeTest: "write tests",
  docstring: "complete docstrings",
  stats: "tell statistics",
  models: "list models",
};

export const ABILITIES = Object.keys(COMMANDS) as readonly Ability[];

/** Why something cannot be done now; empty if it can. `announced` undefined: no server is running. */
export function whyNot(ability: Ability, announced: ReadonlySet<string> | undefined): string {
  if (announced === undefined) {
    return "the server is not running";
  }
  return announced.has(COMMANDS[ability]) ? "" : `this server cannot ${WHAT[ability]}`;
}
