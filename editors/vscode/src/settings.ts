/** The one place where settings are read, typed. */
import * as vscode from "vscode";
import type { Setting } from "./server_section";

export const SECTION = "midfill";

/** Settings that are this client's own business. */
const OWN = new Set(["command", "liveDrafts"]);

/** What decides which server is started. */
export interface CommandSettings {
  readonly user: readonly string[];
  readonly workspace: readonly string[];
}

export function commandSettings(): CommandSettings {
  const told = vscode.workspace.getConfiguration(SECTION).inspect<unknown>("command");
  return { user: texts(told?.globalValue), workspace: texts(told?.workspaceFolderValue ?? told?.workspaceValue) };
}

/** Whether drafts are drawn as they develop. */
export function liveDrafts(): boolean {
  return vscode.workspace.getConfiguration(SECTION).get("liveDrafts", true);
}

export function model(): string {
  return vscode.workspace.getConfiguration(SECTION).get("preset", "pocket");
}

export async function setModel(preset: string): Promise<void> {
  await vscode.workspace.getConfiguration(SECTION).update("preset", preset, vscode.ConfigurationTarget.Global);
}

export function languagesOff(): readonly string[] {
  return texts(vscode.workspace.getConfiguration(SECTION).get<unknown>("languagesOff"));
}

export async function setLanguagesOff(languages: readonly string[]): Promise<void> {
  await vscode.workspace.getConfiguration(SECTION).update("languagesOff", languages, vscode.ConfigurationTarget.Global);
}

/** The names of the server's settings, as this extension's manifest declares them. */
export function serverSettingNames(manifest: unknown): string[] {
  const { contributes } = manifest as { contributes: { configuration: { properties: Record<string, unknown> }[] } };
  return contributes.configuration
    .flatMap((part) => Object.keys(part.properties))
    .map((key) => key.slice(SECTION.length + 1))
    .filter((name) => !OWN.has(name));
}

/** The server's settings as they are now. */
export function serverSettings(names: readonly string[]): Map<string, Setting> {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  return new Map(names.map((name) => [name, settingOf(configuration, name)]));
}

function settingOf(configuration: vscode.WorkspaceConfiguration, name: string): Setting {
  const told = configuration.inspect(name);
  const isSet = [told?.globalValue, told?.workspaceValue, told?.workspaceFolderValue].some((value) => value !== undefined);
  return { value: configuration.get(name), isSet };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : [];
}
