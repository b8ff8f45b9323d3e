/**
 * Set Up Server: into an environment of this extension's own, or one that is there already. Offered once, by the one
 * message that this extension ever shows.
 */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Asking } from "../asking";
import { SECTION } from "../settings";

const OFFERED = "install.offered";
const SET_UP = "Set Up…";

/** Nothing was found: say so, once and for all. */
export async function offerOnce(memory: vscode.Memento): Promise<void> {
  if (memory.get(OFFERED, false)) {
    return;
  }
  await memory.update(OFFERED, true);
  const what = "midfill needs its server, a Python program, and found none on this machine.";
  if ((await vscode.window.showInformationMessage(what, SET_UP, "Not Now")) === SET_UP) {
    await vscode.commands.executeCommand("midfill.install");
  }
}

/** Ask for what there is; afterwards the server can be located. */
export async function install(asking: Asking, environment: string): Promise<void> {
  const picked = await vscode.window.showQuickPick(
    [
      { label: "$(cloud-download) Install it", detail: "from a clone, a wheel or a package's name", run: () => installed(asking, environment) },
      { label: "$(file) It is installed", detail: "choose the program midfill", run: chosen },
    ],
    { title: "Set up midfill's server" },
  );
  await picked?.run();
}

async function chosen(): Promise<void> {
  const picked = await vscode.window.showOpenDialog({ title: "The program midfill", canSelectMany: false });
  const program = picked?.[0]?.fsPath;
  if (program !== undefined) {
    const configuration = vscode.workspace.getConfiguration(SECTION);
    await configuration.update("command", [program, "serve"], vscode.ConfigurationTarget.Global);
  }
}

async function installed(asking: Asking, environment: string): Promise<void> {
  const what = await vscode.window.showInputBox({
    title: "Install midfill's server",
    prompt: "The folder of a clone, a wheel file, or what else pip understands",
    ignoreFocusOut: true,
  });
  if (!what?.trim()) {
    return;
  }
  const isWindows = process.platform === "win32";
  const python = path.join(environment, isWindows ? "Scripts/python.exe" : "bin/python");
  const isDone =
    (await ran("make an environment", isWindows ? "python" : "python3", ["-m", "venv", environment])) &&
    (await ran("install", python, ["-m", "pip", "install", "--upgrade", what.trim()]));
  asking.say(isDone ? "the server is installed" : "the server could not be installed: the terminal tells why");
  if (isDone) {
    await vscode.commands.executeCommand("midfill.restart");
  }
}

/** Run a program where the user sees it; whether it went well. */
async function ran(name: string, program: string, args: string[]): Promise<boolean> {
  const task = new vscode.Task(
    { type: "process" },
    vscode.TaskScope.Global,
    name,
    "midfill",
    new vscode.ProcessExecution(program, args),
  );
  const execution = await vscode.tasks.executeTask(task);
  return new Promise((resolve) => {
    const listener = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution === execution) {
        listener.dispose();
        resolve(event.exitCode === 0);
      }
    });
  });
}
