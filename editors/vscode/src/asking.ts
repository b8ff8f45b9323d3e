/** Asks the server to do something beyond suggesting, if it can; says why not in the status bar if it cannot. */
import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import { ABILITIES, COMMANDS, whyNot, type Ability } from "./abilities";
import { asOutcome } from "./outcome";
import type { Server } from "./server";

const SAID_FOR_MS = 6_000;

export class Asking {
  constructor(
    private readonly server: Server,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Why something cannot be done now; empty if it can. */
  whyNot(ability: Ability): string {
    return whyNot(ability, this.server.announced);
  }

  can(ability: Ability): boolean {
    return this.whyNot(ability) === "";
  }

  /** Say something where it disturbs nobody. */
  say(what: string): void {
    this.log.info(what);
    vscode.window.setStatusBarMessage(`midfill: ${what}`, SAID_FOR_MS);
  }

  /** Run the server's command; its outcome is told and its edit made. */
  async ask(ability: Ability, ...args: unknown[]): Promise<unknown> {
    const reason = this.whyNot(ability);
    const client = this.server.running;
    if (reason || client === undefined) {
      this.say(reason || "the server is not running");
      return undefined;
    }
    try {
      const result: unknown = await client.sendRequest(ExecuteCommandRequest.type, {
        command: COMMANDS[ability],
        arguments: args as never[],
      });
      await this.conclude(result);
      return result;
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Keep `when` clauses up to date. */
  keepContext(): vscode.Disposable {
    const refresh = () => {
      for (const ability of ABILITIES) {
        void vscode.commands.executeCommand("setContext", `midfill.can.${ability}`, this.can(ability));
      }
      void vscode.commands.executeCommand("setContext", "midfill.isRunning", this.server.running !== undefined);
    };
    refresh();
    return this.server.onChanged(refresh);
  }

  /** Tell and do what a command came to. */
  async conclude(raw: unknown): Promise<void> {
    const { message, edit, inline } = asOutcome(raw);
    const client = this.server.running;
    if (message) {
      this.say(message);
    }
    if (edit !== undefined && client !== undefined) {
      await vscode.workspace.applyEdit(await client.protocol2CodeConverter.asWorkspaceEdit(edit), { isRefactoring: true });
    }
    if (inline) {
      await vscode.commands.executeCommand("editor.action.inlineSuggest.trigger");
    }
  }
}
