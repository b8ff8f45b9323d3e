/** The facts of this window from which the server is located. */
import { accessSync, constants, statSync } from "node:fs";
import * as os from "node:os";
import * as vscode from "vscode";
import type { Facts } from "./locate";
import { commandSettings } from "./settings";

/** `ownEnvironment`: the folder into which "Set Up Server" installs. */
export function factsOfWindow(ownEnvironment: string): Facts {
  const { user, workspace } = commandSettings();
  return {
    userCommand: user,
    workspaceCommand: workspace,
    isTrusted: vscode.workspace.isTrusted,
    folders: (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath),
    home: os.homedir(),
    searchPath: process.env["PATH"] ?? "",
    ownEnvironment,
    isWindows: process.platform === "win32",
    isRunnable,
  };
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
