/** The item in the status bar. A click opens the menu. */
import * as vscode from "vscode";
import type { Server } from "./server";
import { model } from "./settings";
import { statusText, type StatusText } from "./status_text";

const COLOURS: Readonly<Record<StatusText["severity"], vscode.ThemeColor | undefined>> = {
  none: undefined,
  warning: new vscode.ThemeColor("statusBarItem.warningBackground"),
  error: new vscode.ThemeColor("statusBarItem.errorBackground"),
};

export function showStatus(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("midfill.status", vscode.StatusBarAlignment.Right, 100);
  item.name = "midfill";
  item.command = "midfill.menu";
  const refresh = () => {
    const { text, tooltip, severity } = statusText({ ...server.shown, model: model() });
    item.text = text;
    item.tooltip = tooltip;
    item.backgroundColor = COLOURS[severity];
    item.accessibilityInformation = { label: tooltip };
  };
  refresh();
  item.show();
  return vscode.Disposable.from(
    item,
    server.onChanged(refresh),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("midfill") && refresh()),
  );
}
