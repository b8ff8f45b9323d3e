/** Toggle for Language: the language of the file in use. */
import * as vscode from "vscode";
import type { Asking } from "../asking";
import { toggled } from "../languages";
import { languagesOff, setLanguagesOff } from "../settings";

export async function toggleLanguage(asking: Asking): Promise<void> {
  const language = vscode.window.activeTextEditor?.document.languageId;
  if (language === undefined) {
    asking.say("no file is open");
    return;
  }
  const off = toggled(languagesOff(), language);
  await setLanguagesOff(off);
  asking.say(`${off.includes(language) ? "off" : "on"} for ${language}`);
}
