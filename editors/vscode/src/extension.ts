/** Wires the parts together; what each does is told in its own file. */
import * as path from "node:path";
import * as vscode from "vscode";
import { Asking } from "./asking";
import { anotherDraft, fillAllHoles, fillHere, fillHolesOfSelection } from "./commands/fill";
import { install, offerOnce } from "./commands/install";
import { toggleLanguage } from "./commands/language";
import { menu } from "./commands/menu";
import { chooseModel } from "./commands/model";
import { rewriteSelection } from "./commands/rewrite";
import { showStatistics } from "./commands/statistics";
import { completeDocstring, writeTest } from "./commands/function";
import { DraftView } from "./draft_view";
import { factsOfWindow } from "./facts";
import { locate } from "./locate";
import { Server } from "./server";
import { serverSettingNames, serverSettings } from "./settings";
import { showStatus } from "./status_bar";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("midfill", { log: true });
  const environment = path.join(context.globalStorageUri.fsPath, "server");
  const names = serverSettingNames(context.extension.packageJSON);
  const started = new Server({
    locate: () => locate(factsOfWindow(environment)),
    settings: () => serverSettings(names),
    log,
  });
  server = started;
  const asking = new Asking(started, log);
  const view = new DraftView();
  const memory = context.globalState;
  const commands: Record<string, (argument?: unknown) => unknown> = {
    fillHere: () => fillHere(asking),
    anotherDraft: (isShown) => anotherDraft(asking, isShown === true),
    rewriteSelection: () => rewriteSelection(asking, memory),
    fillAllHoles: () => fillAllHoles(asking),
    fillHolesOfSelection: () => fillHolesOfSelection(asking),
    writeTestHere: () => writeTest(asking),
    completeDocstring: () => completeDocstring(asking),
    chooseModel: () => chooseModel(asking),
    toggleLanguage: () => toggleLanguage(asking),
    showStatistics: () => showStatistics(asking),
    showLog: () => log.show(true),
    restart: () => started.restart(),
    install: () => install(asking, environment),
    menu: () => menu(asking, started),
  };
  context.subscriptions.push(
    log,
    started,
    showStatus(started),
    asking.keepContext(),
    view,
    started.onDraft((raw) => view.told(raw)),
    started.onChanged(() => started.running === undefined && view.clear()),
    started.onRan((outcome) => void asking.conclude(outcome)),
    started.onChanged(() => started.shown.life === "missing" && void offerOnce(memory)),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`midfill.${name}`, run)),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("midfill.command") && started.restartSoon()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => started.restartSoon()),
  );
  void started.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
