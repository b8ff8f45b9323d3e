/** Makes the language client of one server process. */
import * as os from "node:os";
import type { Readable } from "node:stream";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  RevealOutputChannelOn,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";
import type { Command } from "./locate";
import type { Place } from "./missed";
import { QuietClient } from "./quiet_client";
import type { ServerSection } from "./server_section";
import { SECTION } from "./settings";

/** Named one by one, so that input boxes, diffs and output panes are left alone. */
const SCHEMES = ["file", "untitled", "vscode-notebook-cell", "vscode-remote"];

export interface ClientEvents {
  /** The process has ended and nobody asked it to. */
  readonly onClosed: () => void;
  /** A suggestion was asked for at a place; so many came, so many milliseconds later. */
  readonly onAnswered: (place: Place, num: number, ms: number) => void;
  /** A command of the server that the editor ran by itself, such as a code action's, came to something. */
  readonly onRan: (outcome: unknown) => void;
}

export function makeClient(
  [program, ...args]: Command,
  section: ServerSection,
  events: ClientEvents,
  log: vscode.LogOutputChannel,
): QuietClient {
  const options: LanguageClientOptions = {
    documentSelector: SCHEMES.map((scheme) => ({ scheme })),
    initializationOptions: { ...section.initial(), isTrusted: vscode.workspace.isTrusted },
    synchronize: { configurationSection: SECTION },
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        events.onClosed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    stdioOptions: { stdout: () => undefined, stderr: (input, channel) => keepLines(input, channel) },
    middleware: middlewareOf(section, events, log),
  };
  // Neither the folder that is open nor what lies in it may become part of the server's program.
  const surroundings = { cwd: os.homedir(), env: { ...process.env, PYTHONSAFEPATH: "1", OMP_WAIT_POLICY: "passive" } };
  return new QuietClient({ command: program, args, options: surroundings }, options, log);
}

/** A cursor's place. */
export function placeOf({ uri, version }: vscode.TextDocument, { line, character }: vscode.Position): Place {
  return { uri: uri.toString(), version, line, character };
}

function middlewareOf(section: ServerSection, events: ClientEvents, log: vscode.LogOutputChannel): Middleware {
  return {
    async provideInlineCompletionItems(document, position, context, token, next) {
      const begun = Date.now();
      const place = placeOf(document, position);
      const answer = await silently(() => next(document, position, context, token), log);
      if (!token.isCancellationRequested) {
        events.onAnswered(place, answer ? ("items" in answer ? answer.items : answer).length : 0, Date.now() - begun);
      }
      return answer;
    },
    async executeCommand(command, args, next) {
      const outcome: unknown = await silently(() => next(command, args), log);
      events.onRan(outcome);
      return outcome;
    },
    provideCodeActions: (document, range, context, token, next) =>
      silently(() => next(document, range, context, token), log),
    workspace: {
      configuration: async (params, token, next) => {
        const answers = await next(params, token);
        const others = Array.isArray(answers) ? answers : [];
        return params.items.map((item, index) => (item.section === SECTION ? section.current() : others[index]));
      },
      // Told without a value, so that the server asks and gets what `configuration` gives.
      didChangeConfiguration: (_sections, next) => next(undefined),
    },
  };
}

/** What is asked for, or nothing; a failure is a line in the log. */
async function silently<T>(ask: () => T, log: vscode.LogOutputChannel): Promise<Awaited<T> | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      log.error(error instanceof Error ? error : String(error));
    }
    return undefined;
  }
}

/** The server's log has its own times and levels: it is kept as it comes, line by line. */
function keepLines(input: Readable, channel: vscode.LogOutputChannel): void {
  let rest = "";
  input.setEncoding("utf8");
  input.on("data", (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? "";
    lines.forEach((line) => channel.appendLine(line));
  });
  input.on("close", () => rest && channel.appendLine(rest));
}
